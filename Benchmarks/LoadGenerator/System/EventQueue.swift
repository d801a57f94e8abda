import CLinux
import Glibc

/// A level-triggered epoll instance; each descriptor has a number that is returned with its events.
/// epoll(7).
struct EventQueue: ~Copyable {
    private let descriptor: Int32
    private let events: UnsafeMutableBufferPointer<epoll_event>

    init() throws {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw BenchFailure("epoll_create1", errno: errno) }
        events = .allocate(capacity: 64)
    }

    deinit {
        events.deallocate()
        close(descriptor)
    }

    /// Starts watching a descriptor for input. epoll_ctl(2).
    func add(_ watched: Int32, number: Int) throws {
        try control(EPOLL_CTL_ADD, watched, number: number, interest: EPOLLIN.rawValue)
    }

    /// Sets whether the descriptor is also watched for output. epoll_ctl(2).
    func setWriting(_ writing: Bool, of watched: Int32, number: Int) throws {
        let interest = writing ? EPOLLIN.rawValue | EPOLLOUT.rawValue : EPOLLIN.rawValue
        try control(EPOLL_CTL_MOD, watched, number: number, interest: interest)
    }

    /// Waits for ready descriptors; ``number(_:)`` identifies them.
    ///
    /// - Returns: the number of ready descriptors, 0 after the timeout. epoll_wait(2).
    func wait(milliseconds: Int32) throws -> Int {
        while true {
            let count = epoll_wait(
                descriptor, events.baseAddress!, Int32(events.count), milliseconds)
            if count >= 0 { return Int(count) }
            guard errno == EINTR else { throw BenchFailure("epoll_wait", errno: errno) }
        }
    }

    /// The number of the ready descriptor at `index` of the last ``wait(milliseconds:)``.
    @inline(__always)
    func number(_ index: Int) -> Int {
        Int(events[index].data.u32)
    }

    private func control(
        _ operation: Int32, _ watched: Int32, number: Int, interest: UInt32
    ) throws {
        var event = epoll_event(events: interest, data: epoll_data_t(u32: UInt32(number)))
        guard epoll_ctl(descriptor, operation, watched, &event) == 0 else {
            throw BenchFailure("epoll_ctl", errno: errno)
        }
    }
}

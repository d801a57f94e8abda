import CLinux
import Glibc
internal import SystemPackage

/// The sockets that one thread waits for, and a way for other threads to wake it. epoll(7), eventfd(2).
package final class SocketWatch: Sendable {
    /// A socket that is ready.
    package struct Ready {
        package let socket: Int32
        let canRead, canWrite, hasFailed: Bool
        /// Whether the peer sends nothing more. Only ``SocketWatch/watchChanges(_:)`` asks for it.
        package let hasEnded: Bool
    }

    private let set: Int32
    private let wake: Int32

    /// Sockets that one wait reports at most.
    package static let batchSize = 64

    package init() throws(CacheError) {
        set = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard set >= 0 else { throw .noDescriptors(Errno(rawValue: errno)) }
        wake = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        // On a failure here `deinit` closes the descriptors.
        guard wake >= 0, watch(wake, read: true, write: false) else {
            throw .noDescriptors(Errno(rawValue: errno))
        }
    }

    deinit {
        close(wake)
        close(set)
    }

    /// Starts to wait for a socket, or changes what is waited for. Returns `false` if the kernel has no memory
    /// for it. epoll_ctl(2).
    package func watch(_ socket: Int32, read: Bool, write: Bool) -> Bool {
        watch(socket, (read ? EPOLLIN.rawValue : 0) | (write ? EPOLLOUT.rawValue : 0))
    }

    /// Starts to wait for what a peer sends. Each arrival is reported once, whether it is received or not; so a wait
    /// finds only sockets that it has not reported yet. Returns `false` if the kernel has no memory for it.
    /// epoll_ctl(2), `EPOLLET`.
    package func watchChanges(_ socket: Int32) -> Bool {
        watch(socket, EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue)
    }

    private func watch(_ socket: Int32, _ events: UInt32) -> Bool {
        var event = epoll_event()
        event.events = events
        event.data.fd = socket
        if epoll_ctl(set, EPOLL_CTL_ADD, socket, &event) == 0 { return true }
        return errno == EEXIST && epoll_ctl(set, EPOLL_CTL_MOD, socket, &event) == 0
    }

    /// Stops waiting for a socket. The kernel has already forgotten a closed one.
    package func forget(_ socket: Int32) {
        var event = epoll_event()
        epoll_ctl(set, EPOLL_CTL_DEL, socket, &event)
    }

    /// Waits until a socket is ready, a thread calls ``wakeUp()`` or the time is over. A signal ends the wait.
    /// epoll_wait(2).
    package func wait(milliseconds: Int32) -> [Ready] {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.batchSize) { events in
            let count = epoll_wait(set, events.baseAddress!, Int32(events.count), milliseconds)
            return events.prefix(max(Int(count), 0)).compactMap { event in
                guard event.data.fd != wake else {
                    var calls: eventfd_t = 0
                    eventfd_read(wake, &calls)
                    return nil
                }
                return Ready(event)
            }
        }
    }

    /// Ends the current wait, or the next one. Any thread may call it. eventfd(2).
    package func wakeUp() {
        // EAGAIN: it was woken very often already.
        while eventfd_write(wake, 1) != 0, errno != EAGAIN {}
    }
}

extension SocketWatch.Ready {
    fileprivate init(_ event: epoll_event) {
        let flags = event.events
        let hasFailed = flags & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        self.init(
            socket: event.data.fd, canRead: flags & EPOLLIN.rawValue != 0,
            canWrite: flags & EPOLLOUT.rawValue != 0,
            hasFailed: hasFailed, hasEnded: hasFailed || flags & EPOLLRDHUP.rawValue != 0)
    }
}

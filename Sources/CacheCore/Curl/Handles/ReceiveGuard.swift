import CLinux
import Glibc
internal import Synchronization

/// Ends a connection whose bytes keep libcurl, or a library beneath it, from coming back.
///
/// Small frames of HTTP/2 or messages of TLS that arrive as fast as they can be read are read without end, in one call.
/// No other transfer goes on meanwhile, and nothing that libcurl calls sees them. So another thread looks every 20 ms
/// whether the receiving thread is still in the same call and has computed for long. It then shuts down the socket that
/// brought most from one look to the next, three times in a row, and discards what the kernel has received on it. A call
/// that is long because the machine is slow or short of memory takes in little more than was there before.
final class ReceiveGuard: Sendable {
    private struct Sockets {
        var open: Set<Int32> = []
        /// Those that the guard has shut down.
        var ended: Set<Int32> = []
    }

    private let sockets = Mutex(Sockets())
    /// Odd while libcurl works.
    private let turns = Atomic<Int>(0)
    /// Whether the guard looks again and again. Otherwise it sleeps until the next turn.
    private let isAwake = Atomic(false)
    private let isStopping = Atomic(false)
    private let wake = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    private let thread = Mutex<NamedThread?>(nil)

    private static let interval: Int32 = 20
    /// What the receiving thread has to have computed in one call, in nanoseconds.
    private static let busyTime: Int64 = 50_000_000
    /// Intervals in which the same socket has to have brought most.
    private static let steadyIntervals = 3
    /// Intervals without a turn before the guard sleeps.
    private static let restTurns = 50

    deinit {
        if wake >= 0 { _ = Glibc.close(wake) }
    }

    /// Begins to guard the calling thread.
    func start() {
        var clock = clockid_t()
        guard wake >= 0, pthread_getcpuclockid(pthread_self(), &clock) == 0 else { return }
        thread.withLock {
            $0 = NamedThread(ifPossible: "guard") { [clock] in self.run(clock) }
        }
    }

    func finish() {
        isStopping.store(true, ordering: .relaxed)
        eventfd_write(wake, 1)
        thread.withLock { $0.take() }?.join()
    }

    /// libcurl is called.
    func enter() {
        turns.wrappingAdd(1, ordering: .sequentiallyConsistent)
        guard !isAwake.load(ordering: .sequentiallyConsistent) else { return }
        isAwake.store(true, ordering: .relaxed)
        eventfd_write(wake, 1)
    }

    /// libcurl has come back.
    func leave() {
        turns.wrappingAdd(1, ordering: .relaxed)
    }

    func opened(_ socket: Int32) {
        sockets.withLock { _ = $0.open.insert(socket) }
    }

    /// Closes a socket. Its number may be that of another file at once, which must not be shut down. close(2).
    func close(_ socket: Int32) -> Int32 {
        sockets.withLock {
            $0.open.remove(socket)
            $0.ended.remove(socket)
            return Glibc.close(socket)
        }
    }

    /// Whether any socket has been shut down that is still open.
    var hasEnded: Bool { sockets.withLock { !$0.ended.isEmpty } }

    func hasEnded(_ socket: Int32) -> Bool { sockets.withLock { $0.ended.contains(socket) } }

    // MARK: The guard's thread

    private func run(_ clock: clockid_t) {
        var (seen, since) = (0, Int64(0))
        var received: [Int32: Int64] = [:]
        var busiest: (socket: Int32, intervals: Int)?
        var rest = 0
        while !isStopping.load(ordering: .relaxed) {
            var entry = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, isAwake.load(ordering: .relaxed) ? Self.interval : -1)
            var value: UInt64 = 0
            eventfd_read(wake, &value)
            let turn = turns.load(ordering: .sequentiallyConsistent)
            guard turn == seen else {
                (seen, since, received, busiest, rest) = (turn, Self.time(clock), [:], nil, 0)
                continue
            }
            if turn.isMultiple(of: 2) {
                rest += 1
                if rest > Self.restTurns { sleep(unless: turn) }
            } else if Self.time(clock) - since > Self.busyTime {
                let now = bytesReceived()
                busiest = Self.busiest(now, since: received).map { socket in
                    (socket, socket == busiest?.socket ? busiest!.intervals + 1 : 1)
                }
                received = now
                if let busiest, busiest.intervals >= Self.steadyIntervals { end(busiest.socket) }
            }
        }
    }

    private func sleep(unless turn: Int) {
        isAwake.store(false, ordering: .sequentiallyConsistent)
        // A turn that began before this was stored has woken nobody.
        if turns.load(ordering: .sequentiallyConsistent) != turn {
            isAwake.store(true, ordering: .relaxed)
        }
    }

    private func bytesReceived() -> [Int32: Int64] {
        sockets.withLock { sockets in
            Dictionary(uniqueKeysWithValues: sockets.open.map { ($0, clinux_received($0)) })
        }
    }

    private static func busiest(_ now: [Int32: Int64], since before: [Int32: Int64]) -> Int32? {
        let gains = now.compactMap { socket, bytes in
            before[socket].map { (socket: socket, bytes: bytes - $0) }
        }
        return gains.filter { $0.bytes > 0 }.max { $0.bytes < $1.bytes }?.socket
    }

    /// shutdown(2); tcp(7), `MSG_TRUNC`.
    private func end(_ socket: Int32) {
        sockets.withLock { sockets in
            guard sockets.open.contains(socket), sockets.ended.insert(socket).inserted else {
                return
            }
            shutdown(socket, Int32(SHUT_RDWR))
            while recv(socket, nil, 1 << 30, Int32(MSG_TRUNC) | Int32(MSG_DONTWAIT)) > 0 {}
        }
    }

    private static func time(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

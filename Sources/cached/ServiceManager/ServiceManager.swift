import CLinux
import Glibc
import Logging

/// The service manager that started the daemon, and the reports that it gets. sd_notify(3).
///
/// A report is a datagram to the socket in `NOTIFY_SOCKET`. Without that variable reports are dropped.
struct ServiceManager: Sendable {
    /// A time within which the service manager wants to hear again that the daemon is well; `nil` if it does not
    /// watch the daemon. `WATCHDOG_USEC`
    let watchdog: Duration?
    private let address: UnixAddress?
    private let descriptor: Int32

    /// The longest wait for a service manager that does not read its reports, in seconds.
    private static let patience = 5

    init(_ environment: [String: String], logger: Logger) {
        watchdog = Self.watchdog(environment)
        isAbstract = environment["NOTIFY_SOCKET"]?.hasPrefix("@") == true
        guard let text = environment["NOTIFY_SOCKET"], !text.isEmpty else {
            (address, descriptor) = (nil, -1)
            return
        }
        let isAddress = text.hasPrefix("/") || text.hasPrefix("@")
        address = isAddress ? UnixAddress(text) : nil
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if address == nil {
            logger.warning(
                """
                the service manager gets no reports: NOTIFY_SOCKET is not a path or an abstract name \
                of a Unix socket
                """,
                metadata: ["socket": "\(text)"])
        }
    }

    /// sd_watchdog_enabled(3) recommends half of the time as the interval.
    private static func watchdog(_ environment: [String: String]) -> Duration? {
        guard let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }),
            microseconds > 0
        else { return nil }
        guard let process = environment["WATCHDOG_PID"] else { return .microseconds(microseconds) }
        return pid_t(process) == getpid() ? .microseconds(microseconds) : nil
    }

    /// Whether there is a service manager to report to.
    var isListening: Bool { address != nil }

    /// Whether it is reached by an abstract name. unix(7)
    let isAbstract: Bool

    /// The daemon answers calls, or a reload is over.
    func ready(_ status: String) { send(["READY=1", Self.line(status)]) }

    /// A line for people, which `systemctl status` shows.
    func status(_ text: String) { send([Self.line(text)], waits: false) }

    /// The configuration is being read again. The time lets the service manager distinguish this reload from an
    /// earlier one.
    func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = time.tv_sec * 1_000_000 + time.tv_nsec / 1000
        send(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"])
    }

    func stopping(_ status: String) { send(["STOPPING=1", Self.line(status)]) }

    /// The threads that answer and download are well.
    func isWell() { send(["WATCHDOG=1"], waits: false) }

    /// A report has a line for each value.
    private static func line(_ status: String) -> String {
        "STATUS=" + String(status.map { $0.isNewline ? " " : $0 })
    }

    /// A report that is lost cannot be reported anywhere else. sendto(2).
    private func send(_ lines: [String], waits: Bool = true) {
        guard let address else { return }
        let message = Array(lines.joined(separator: "\n").utf8)
        let flags = Int32(MSG_NOSIGNAL) | (waits ? 0 : Int32(MSG_DONTWAIT))
        address.withPointer { pointer, length in
            while sendto(descriptor, message, message.count, flags, pointer, length) < 0,
                errno == EINTR
            {}
        }
    }
}

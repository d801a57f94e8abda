import Glibc

/// A file of pressure statistics, read independently of the daemon. Documentation/accounting/psi.rst.
public struct PressureFile: Sendable {
    public let path: String

    /// The statistics of the whole machine.
    public static let machine = PressureFile(path: "/proc/pressure/memory")

    public init(path: String) {
        self.path = path
    }

    public var isThere: Bool { access(path, R_OK) == 0 }

    /// Whether the kernel grants this process a trigger. Before Linux 6.4 only privileged processes
    /// could have one.
    public var grantsTriggers: Bool { grants(Self.warning) }

    /// Whether the kernel grants this process a trigger with this line.
    public func grants(_ line: String) -> Bool {
        guard let descriptor = arm(line) else { return false }
        close(descriptor)
        return true
    }

    private static let warning = "some 200000 2000000"

    /// The total time in which some task has waited for memory.
    public func waited() throws -> Duration {
        let text = String(decoding: try contents(of: path), as: UTF8.self)
        guard let some = text.split(separator: "\n").first, some.hasPrefix("some "),
            let total = some.split(separator: "=").last.flatMap({ Int($0) })
        else { throw TestFailure("\(path) holds \(text)") }
        return .microseconds(total)
    }

    /// Arms a trigger at the warning threshold, runs `body`, and waits for the first event, genuine or
    /// not. Returns false if there was none in time, or if no trigger is granted. poll(2).
    @discardableResult
    public func unguardedEvent(
        within limit: Duration, after body: @Sendable () async throws -> Void = {}
    ) async throws -> Bool {
        guard let descriptor = arm() else { return false }
        defer { close(descriptor) }
        try await body()
        return try await offPool {
            var event = pollfd(fd: descriptor, events: Int16(POLLPRI), revents: 0)
            return poll(&event, 1, limit.milliseconds) == 1
        }
    }

    /// Opens a descriptor with a trigger; `nil` if the kernel grants none.
    private func arm(_ line: String = warning) -> Int32? {
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let line = Array((line + "\0").utf8)
        if write(descriptor, line, line.count) == line.count { return descriptor }
        close(descriptor)
        return nil
    }
}

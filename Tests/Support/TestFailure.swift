import Glibc

/// Why a fixture could not do its work: the sentence a failing test prints.
public struct TestFailure: Error, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }

    /// The failure of a system call, with the reason `errno` gives.
    static func syscall(_ name: String, _ subject: String = "", errno code: Int32 = errno) -> Self {
        let place = subject.isEmpty ? "" : " of \(subject)"
        return Self("\(name)\(place) failed: \(String(cString: strerror(code)))")
    }

    /// Nothing happened in time.
    static func timedOut(_ what: String, after limit: Duration) -> Self {
        Self("waited \(limit) in vain for \(what)")
    }
}

extension Duration {
    /// How long a test waits for an event that should come at once: generous, because it is spent
    /// only by a test that fails.
    public static let patience = Duration.seconds(120)

    /// Whole milliseconds, rounded up, as poll(2) wants them.
    var milliseconds: Int32 {
        let (seconds, attoseconds) = components
        let total = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: max(total, 0))
    }
}

import Glibc

/// Why a fixture could not do its work. A failing test prints this sentence.
public struct TestFailure: Error, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }

    /// The failure of a system call, with the reason in `errno`.
    static func syscall(_ name: String, _ subject: String = "", errno code: Int32 = errno) -> Self {
        let place = subject.isEmpty ? "" : " of \(subject)"
        return Self("\(name)\(place) failed: \(String(cString: strerror(code)))")
    }

    /// A timeout.
    static func timedOut(_ what: String, after limit: Duration) -> Self {
        Self("timed out after \(limit) waiting for \(what)")
    }
}

import Glibc

/// Why a measurement failed: the attempted operation, and the kernel's error if there is one.
struct BenchFailure: Error, CustomStringConvertible {
    let message: String
    /// The error number of the call that failed.
    let cause: Int32?

    init(_ message: String, errno cause: Int32? = nil) {
        self.message = message
        self.cause = cause
    }

    var description: String {
        cause.map { "\(message): \(String(cString: strerror($0)))" } ?? message
    }
}

import Glibc

/// Why a measurement could not be made: what was tried and, where the kernel said no, its reason.
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

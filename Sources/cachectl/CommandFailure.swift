import Glibc

/// An error that ends a command early.
struct CommandFailure: Error {
    let status: ExitStatus
    /// Tells a person why the command failed and how to fix it.
    let message: String
}

extension CommandFailure {
    /// A failed system call.
    ///
    /// - Parameters:
    ///   - action: the rest of a sentence that starts with "cannot".
    ///   - number: the errno of the call.
    static func system(_ action: String, errno number: Int32 = errno) -> CommandFailure {
        CommandFailure(
            status: .inputOutput, message: "cannot \(action): \(String(cString: strerror(number)))")
    }
}

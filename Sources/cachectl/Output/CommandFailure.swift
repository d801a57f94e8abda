import CacheKey
import Glibc

/// An error that ends a command early.
struct CommandFailure: Error {
    let status: ExitStatus
    /// Explains to a person why the command failed and how to fix it.
    let message: String
}

extension CommandFailure {
    /// Throws if no key can be computed. Commands call it before they compute the first one; others never load
    /// libcrypto, and work without it.
    static func checkThatKeysCanBeComputed() throws(CommandFailure) {
        guard let obstacle = CacheKey.obstacle else { return }
        throw CommandFailure(
            status: .missingLibrary,
            message:
                "no file name can be computed: \(obstacle); install OpenSSL 3 (Debian: libssl3)")
    }

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

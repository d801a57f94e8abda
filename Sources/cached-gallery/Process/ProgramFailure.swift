import ArgumentParser
import Glibc

/// Why the program does not start: a sentence for a person, and an exit status of sysexits(3).
struct ProgramFailure: Error {
    let message: String
    let status: Int32

    /// EX_USAGE.
    static func usage(_ message: String) -> ProgramFailure {
        ProgramFailure(message: message, status: 64)
    }

    /// EX_OSFILE.
    static let noLibcrypto = ProgramFailure(
        message: "libcrypto cannot be used; install the package libssl3", status: 72)

    /// EX_OSERR.
    static func port(_ port: Int, _ error: any Error) -> ProgramFailure {
        ProgramFailure(
            message: "cannot listen on port \(port) of 127.0.0.1: \(error); choose another --port",
            status: 71)
    }

    /// EX_CANTCREAT.
    static func file(_ action: String, _ cause: Int32) -> ProgramFailure {
        ProgramFailure(message: "\(action): \(String(cString: strerror(cause)))", status: 73)
    }
}

import ArgumentParser
import CacheCore

/// Why the daemon cannot start: one line for a person, and the exit status that says so to programs.
struct StartFailure: Error {
    let message: String
    let exitCode: ExitCode

    /// A wrong value in an option, the environment or the configuration file.
    static func configuration(_ message: String) -> StartFailure {
        StartFailure(message: message, exitCode: .configuration)
    }

    init(message: String, exitCode: ExitCode) {
        self.message = message
        self.exitCode = exitCode
    }

    init(_ error: CacheError) {
        message = error.description
        exitCode =
            switch error.code {
            case .directoryUnusable: .cannotCreate
            case .directoryInUse: .temporaryFailure
            case .notPermitted: .notPermitted
            case .wrongLimit: .configuration
            case .unsupported: .cannotCreate
            }
    }
}

/// Exit statuses of the daemon. sysexits(3head).
extension ExitCode {
    /// Directory or socket can't be made: `EX_CANTCREAT`.
    static let cannotCreate = ExitCode(73)
    /// Another daemon holds the directory or the socket: `EX_TEMPFAIL`.
    static let temporaryFailure = ExitCode(75)
    /// Not permitted: `EX_NOPERM`.
    static let notPermitted = ExitCode(77)
    /// A wrong setting: `EX_CONFIG`.
    static let configuration = ExitCode(78)
}

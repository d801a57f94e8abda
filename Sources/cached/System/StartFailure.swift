import ArgumentParser
import CacheCore

/// Why the daemon cannot start: a line for people, and an exit status for programs.
struct StartFailure: Error {
    let message: String
    let exitCode: ExitCode

    /// A wrong setting in an option, the environment or the configuration file.
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

/// The exit statuses of the daemon. sysexits(3head).
extension ExitCode {
    /// The directory or the socket cannot be created: `EX_CANTCREAT`.
    static let cannotCreate = ExitCode(73)
    /// Another daemon uses the directory or the socket: `EX_TEMPFAIL`.
    static let temporaryFailure = ExitCode(75)
    /// The user may not do this: `EX_NOPERM`.
    static let notPermitted = ExitCode(77)
    /// A wrong setting: `EX_CONFIG`.
    static let configuration = ExitCode(78)
}

import ArgumentParser
import CacheWire

/// The exit statuses of the process. The numbers from 64 up are those of sysexits(3).
enum ExitStatus: Int32 {
    case success = 0
    /// At least one image failed, is missing, or was left undone.
    case incomplete = 1
    /// No image is missing, but at least one is in flight.
    case inFlight = 2
    /// EX_USAGE. ArgumentParser uses the same status for its own errors.
    case usage = 64
    /// EX_DATAERR.
    case invalidURL = 65
    /// EX_UNAVAILABLE: no daemon answers at the socket.
    case noDaemon = 69
    /// EX_SOFTWARE: the daemon and the client do not understand each other.
    case protocolError = 70
    /// EX_OSFILE: a library of the system is absent.
    case missingLibrary = 72
    /// EX_IOERR: reading or writing failed.
    case inputOutput = 74
    /// EX_NOPERM.
    case notPermitted = 77
    /// 128 plus the number of SIGINT.
    case interrupted = 130

    /// The error to throw, or to hand to ArgumentParser, to end with this status.
    var error: ExitCode { ExitCode(rawValue) }

    /// The status for a call that failed.
    init(_ error: ClientError) {
        self =
            switch error.code {
            case .noDaemon, .disconnected, .refused(.shuttingDown), .refused(.tooManyConnections):
                .noDaemon
            case .notPermitted, .refused(.permissionDenied): .notPermitted
            // The command asked for more than one call can carry.
            case .pathTooLong, .invalidEnvironment, .messageTooLarge, .refused(.tooMany): .usage
            case .input: .inputOutput
            case .invalidReply, .refused: .protocolError
            }
    }
}

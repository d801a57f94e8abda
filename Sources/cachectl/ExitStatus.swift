import ArgumentParser
import CacheWire

/// What the process says when it ends; the numbers from 64 up are those of sysexits(3).
enum ExitStatus: Int32 {
    case success = 0
    /// Something failed, is missing, or was left undone.
    case incomplete = 1
    /// Nothing is missing, and some is in flight.
    case inFlight = 2
    /// EX_USAGE; ArgumentParser's own errors end with it too.
    case usage = 64
    /// EX_DATAERR.
    case invalidURL = 65
    /// EX_UNAVAILABLE: nobody answers at the socket.
    case noDaemon = 69
    /// EX_SOFTWARE: daemon and client do not understand each other.
    case protocolError = 70
    /// EX_IOERR: reading or writing failed.
    case inputOutput = 74
    /// EX_NOPERM.
    case notPermitted = 77
    /// 128 and the number of SIGINT.
    case interrupted = 130

    /// What to throw, or hand to ArgumentParser, to end with this status.
    var error: ExitCode { ExitCode(rawValue) }

    /// The status for a call that failed.
    init(_ error: ClientError) {
        self =
            switch error.code {
            case .noDaemon, .disconnected, .refused(.shuttingDown): .noDaemon
            case .notPermitted, .refused(.permissionDenied): .notPermitted
            // More was asked for than fits into one call.
            case .pathTooLong, .invalidEnvironment, .messageTooLarge, .refused(.tooMany): .usage
            case .input: .inputOutput
            case .invalidReply, .refused: .protocolError
            }
    }
}

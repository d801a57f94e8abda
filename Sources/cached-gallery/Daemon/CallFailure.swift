import CacheWire

/// Why the daemon did not answer a call, or refused it.
struct CallFailure: Error {
    /// A sentence for a person.
    let message: String
    /// Whether no daemon answers now.
    var isAway = false
    /// Whether it answers, and has not finished in time.
    var isSlow = false

    static let away = CallFailure(
        message: "no daemon answers; start it with: cached", isAway: true)

    static func refused(_ error: WireError) -> CallFailure {
        CallFailure(message: "\(error)", isAway: error == .shuttingDown)
    }

    static let misunderstood = CallFailure(
        message: "the daemon's reply is not what this program expects; update both")
}

typealias CallResult = Result<DaemonReply, CallFailure>

/// An error reply of the daemon: a name and its parameters.
///
/// A ``Reply`` encodes the name as its `error` and the parameters as its `parameters`.
public enum WireError: Error, Sendable, Hashable {
    // io.cached.Cache

    /// More URLs or downloads than the daemon accepts.
    case tooMany(limit: Int)
    /// The user has as many connections as one user can have. The connection closes after this reply.
    case tooManyConnections(limit: Int)
    /// There is no running `Fetch` with `more` to adjust.
    case noStream
    /// The daemon is stopping and accepts no new calls.
    case shuttingDown
    /// The message was longer than `limit` bytes. The connection closes after this reply.
    case messageTooLarge(limit: Int)
    /// The message was not a JSON object with a method. The connection closes after this reply.
    case invalidMessage(reason: String)

    // org.varlink.service

    /// The daemon does not serve this interface.
    case interfaceNotFound(interface: String)
    /// The interface does not have this method.
    case methodNotFound(method: String)
    /// The interface has this method, but this daemon does not implement it.
    case methodNotImplemented(method: String)
    /// The parameter is unknown or absent, has the wrong type, or is out of range. The reason is a
    /// sentence for a person.
    case invalidParameter(parameter: String, reason: String?)
    /// This client is not permitted to make the call. The reason is a sentence for a person, if it is not the usual one.
    case permissionDenied(reason: String?)
    /// The method requires `more`.
    case expectedMore

    /// An error that this version does not know, from a newer daemon.
    case unknown(name: String)
}

extension WireError {
    /// The full name, for example `io.cached.Cache.TooMany`.
    public var name: String {
        switch self {
        case .tooMany: "io.cached.Cache.TooMany"
        case .tooManyConnections: "io.cached.Cache.TooManyConnections"
        case .noStream: "io.cached.Cache.NoStream"
        case .shuttingDown: "io.cached.Cache.ShuttingDown"
        case .messageTooLarge: "io.cached.Cache.MessageTooLarge"
        case .invalidMessage: "io.cached.Cache.InvalidMessage"
        case .interfaceNotFound: "org.varlink.service.InterfaceNotFound"
        case .methodNotFound: "org.varlink.service.MethodNotFound"
        case .methodNotImplemented: "org.varlink.service.MethodNotImplemented"
        case .invalidParameter: "org.varlink.service.InvalidParameter"
        case .permissionDenied: "org.varlink.service.PermissionDenied"
        case .expectedMore: "org.varlink.service.ExpectedMore"
        case .unknown(let name): name
        }
    }
}

extension WireError: CustomStringConvertible {
    /// A message for a person.
    public var description: String {
        switch self {
        case .tooMany(let limit): "the daemon accepts no more than \(limit) at a time"
        case .tooManyConnections(let limit):
            "your programs have all \(limit) connections to the daemon that you can have; end some of them"
        case .noStream: "no fetch with more is running on this connection"
        case .shuttingDown: "the daemon is shutting down"
        case .messageTooLarge(let limit): "the message is longer than \(limit) bytes"
        case .invalidMessage(let reason): "the message is not a call: \(reason)"
        case .interfaceNotFound(let interface): "the daemon does not serve \(interface)"
        case .methodNotFound(let method): "the daemon has no method \(method)"
        case .methodNotImplemented(let method): "the daemon does not implement \(method)"
        case .invalidParameter(let parameter, let reason):
            "the daemon does not accept this \(parameter)" + (reason.map { ": \($0)" } ?? "")
        case .permissionDenied(let reason):
            reason ?? "only the owner of the cache, root and its managers may do this"
        case .expectedMore: "the call must ask for more than one reply"
        case .unknown(let name): "the daemon answers with the error \(name)"
        }
    }
}

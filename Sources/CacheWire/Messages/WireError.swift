/// An error a call is answered with: a name and its parameters.
///
/// In a reply the name stands in `error`, the parameters in `parameters`; ``Reply`` does both.
public enum WireError: Error, Sendable, Hashable {
    // io.cached.Cache

    /// More calls, URLs or connections than the daemon takes.
    case tooMany(limit: Int)
    /// The daemon is stopping and starts nothing new.
    case shuttingDown
    /// The message was longer than `limit` bytes; the connection closes after this reply.
    case messageTooLarge(limit: Int)
    /// The message was not a JSON object with a method; the connection closes after this reply.
    case invalidMessage(reason: String)

    // org.varlink.service

    /// No such interface is served here.
    case interfaceNotFound(interface: String)
    /// The interface has no such method.
    case methodNotFound(method: String)
    /// The interface has the method, this daemon does not do it.
    case methodNotImplemented(method: String)
    /// The parameter is absent, of another type, or out of range.
    case invalidParameter(parameter: String)
    /// This peer may not do that.
    case permissionDenied
    /// The method makes sense with `more` only.
    case expectedMore

    /// An error this version does not know, of a newer daemon.
    case unknown(name: String)
}

extension WireError {
    /// The full name, as in `io.cached.Cache.TooMany`.
    public var name: String {
        switch self {
        case .tooMany: "io.cached.Cache.TooMany"
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
    /// What happened, for a person.
    public var description: String {
        switch self {
        case .tooMany(let limit): "the daemon takes no more than \(limit) at a time"
        case .shuttingDown: "the daemon is shutting down"
        case .messageTooLarge(let limit): "the message is longer than \(limit) bytes"
        case .invalidMessage(let reason): "the message is not a call: \(reason)"
        case .interfaceNotFound(let interface): "the daemon does not serve \(interface)"
        case .methodNotFound(let method): "the daemon has no method \(method)"
        case .methodNotImplemented(let method): "the daemon does not implement \(method)"
        case .invalidParameter(let parameter): "the daemon does not accept this \(parameter)"
        case .permissionDenied: "the daemon does not permit it"
        case .expectedMore: "the call must ask for more than one reply"
        case .unknown(let name): "the daemon answers with the error \(name)"
        }
    }
}

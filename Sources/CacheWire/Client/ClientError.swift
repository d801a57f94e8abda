/// Why a call to the daemon failed: a code for programs, a sentence for people, and the cause.
public struct ClientError: Error, Sendable, Hashable {
    /// What kind of failure it is.
    public enum Code: Sendable, Hashable {
        // Connecting

        /// Nothing listens at the socket.
        case noDaemon
        /// The socket is there, and this user may not connect to it.
        case notPermitted
        /// The path does not fit into a socket address.
        case pathTooLong
        /// A variable that says where the daemon or the directory is can't be read.
        case invalidEnvironment

        // Talking

        /// The connection ended before the reply.
        case disconnected
        /// A system call failed.
        case input
        /// The call or the reply is longer than ``Message/maximumLength``.
        case messageTooLarge
        /// The reply is not what the interface says.
        case invalidReply
        /// The daemon answered with an error.
        case refused(WireError)
    }

    public let code: Code
    /// What happened, to what, and what to do about it.
    public let message: String
    /// The errno of the system call that failed.
    public let cause: Int32?

    init(_ code: Code, _ message: String, cause: Int32? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

extension ClientError: CustomStringConvertible {
    public var description: String { message }
}

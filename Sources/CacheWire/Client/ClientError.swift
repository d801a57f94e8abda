/// Why a call to the daemon failed: a code for programs, a sentence for people, and the cause.
///
///     do {
///         client = try Client(paths: paths)
///     } catch {
///         print(error.code == .noDaemon ? "start the daemon first" : error.message)
///     }
public struct ClientError: Error, Sendable, Hashable {
    /// The kind of failure.
    public enum Code: Sendable, Hashable {
        // Connecting

        /// No process listens at the socket.
        case noDaemon
        /// The socket exists, but this user is not permitted to connect to it.
        case notPermitted
        /// The path does not fit into a socket address.
        case pathTooLong
        /// An environment variable that locates the daemon or the directory is not UTF-8.
        case invalidEnvironment

        // Sending and receiving

        /// The daemon closed the connection before it replied.
        case disconnected
        /// A system call failed.
        case input
        /// The call or the reply is longer than ``Message/maximumLength``.
        case messageTooLarge
        /// The reply does not match the interface.
        case invalidReply
        /// The daemon answered with an error.
        case refused(WireError)
    }

    public let code: Code
    /// Explains to a person what failed and how to fix it.
    public let message: String
    /// The errno of the failed system call.
    public let cause: Int32?

    package init(_ code: Code, _ message: String, cause: Int32? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

extension ClientError: CustomStringConvertible {
    public var description: String { message }
}

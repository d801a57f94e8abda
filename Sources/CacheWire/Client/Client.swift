import Glibc

/// A blocking client of the daemon: one connection, one call at a time.
///
/// It belongs to one thread. A call that streams must be read to its end, or the client dropped,
/// before the next one; see ``ReplyStream``.
public final class Client {
    private let connection: SocketConnection
    private var input = InputBuffer()

    /// Connects to the first of `paths` where a daemon listens; see ``SocketLookup``.
    public init(paths: [String]) throws(ClientError) {
        connection = try SocketConnection.open(firstOf: paths)
    }

    /// The path of the socket that answered.
    public var path: String { connection.path }

    /// Readable when there may be a reply, for callers that wait for other things too. poll(2).
    public var descriptor: Int32 { connection.descriptor }

    /// Calls a method and waits for its one reply.
    public func call<M: Method>(
        _ method: M.Type = M.self, _ parameters: M.Parameters
    ) throws(ClientError) -> M.Reply {
        try send(Call(M.name, parameters: parameters))
        return try reply(to: method).parameters
    }

    /// Calls a method that may reply more than once.
    public func stream<M: Method>(
        _ method: M.Type = M.self, _ parameters: M.Parameters
    ) throws(ClientError) -> ReplyStream<M> {
        try send(Call(M.name, parameters: parameters, more: true))
        return ReplyStream(client: self)
    }
}

extension Client {
    private func send<Parameters>(_ call: Call<Parameters>) throws(ClientError) {
        let message: [UInt8]
        do {
            message = try call.message()
        } catch {
            throw ClientError(.input, "the call cannot be written as JSON: \(error)")
        }
        guard message.count <= Message.maximumLength else { throw tooLarge("the call") }
        try connection.send(message)
    }

    /// Waits for the next reply to a call of this method.
    func reply<M: Method>(
        to _: M.Type
    ) throws(ClientError) -> (parameters: M.Reply, continues: Bool) {
        while !input.hasMessage() {
            try receive()
        }
        let reply: Reply<M.Reply>?
        do {
            reply = try input.takeMessage { (message) throws(DecodingError) in try .read(message) }
        } catch {
            throw ClientError(.invalidReply, "the daemon's reply is not understood: \(error)")
        }
        if let error = reply?.error {
            throw ClientError(.refused(error), "\(error)")
        }
        guard let reply, let parameters = reply.parameters else {
            throw ClientError(.invalidReply, "the daemon's reply has no parameters")
        }
        return (parameters, reply.continues ?? false)
    }

    private func receive() throws(ClientError) {
        guard input.count <= Message.maximumLength else { throw tooLarge("the reply") }
        guard try connection.receive(into: &input) else {
            throw ClientError(
                .disconnected, "the daemon at \(path) closed the connection before it replied")
        }
    }

    private func tooLarge(_ subject: String) -> ClientError {
        ClientError(
            .messageTooLarge,
            "\(subject) is longer than \(Message.maximumLength) bytes: "
                + "ask about fewer URLs at once")
    }
}

extension Client {
    /// Waits until a whole reply is there (`true`) or the time is over. poll(2).
    func waitForReply(milliseconds: Int32) throws(ClientError) -> Bool {
        while !input.hasMessage() {
            var entry = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
            switch poll(&entry, 1, milliseconds) {
            case 0: return false
            case 1...: try receive()
            default:
                guard errno == EINTR else { throw connection.failure("wait for") }
            }
        }
        return true
    }
}

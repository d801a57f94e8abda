internal import CClient
internal import ClientCore
import Glibc

/// A blocking client of the daemon: one connection, one call at a time.
///
///     let environment = try Environment.current()
///     let client = try Client(paths: SocketLookup.clientPaths(flag: nil, environment: environment))
///     let reply = try client.call(Methods.Status.self, .init(urls: ["https://example.com/a.png"]))
///
/// A client belongs to one thread. Read a stream to its end, or drop the client, before the next
/// call; see ``ReplyStream``.
public final class Client {
    private let connection: SocketConnection
    var input = InputBuffer()
    private let connectedAt = ContinuousClock.now
    /// Whether the daemon has answered anything. Then it is there, however long the next reply takes.
    private var hasAnswered = false

    /// Milliseconds without any answer after which it is checked whether there is a daemon.
    private static let patience: Int32 = 5000

    /// Connects to a daemon.
    ///
    /// - Parameter paths: the sockets to try, in order; see ``SocketLookup``.
    /// - Throws: ``ClientError`` if no daemon answers at any of them.
    public init(paths: [String]) throws(ClientError) {
        connection = try SocketConnection.open(firstOf: paths)
    }

    /// Connects to a daemon, and starts one if none answers.
    ///
    /// - Parameters:
    ///   - paths: the sockets to try, in order; see ``SocketLookup``.
    ///   - flag: the socket that a person has named, at which the daemon shall listen; `nil` for the usual one.
    /// - Throws: ``ClientError``, with the reason if none can be started.
    public init(paths: [String], startingAt flag: String?) throws(ClientError) {
        do throws(ClientError) {
            connection = try SocketConnection.open(firstOf: paths)
        } catch {
            let place = DaemonPlace(directory: nil, socket: flag.map { Array($0.utf8) })
            guard error.code == .noDaemon, place.starts else { throw error }
            if let reason = DaemonStart.wait(place) {
                throw .noDaemon(at: paths, because: String(decoding: reason, as: UTF8.self))
            }
            connection = try SocketConnection.open(firstOf: paths)
        }
    }

    /// The path of the connected socket.
    public var path: String { connection.path }

    /// The descriptor of the connection. It becomes readable when a reply arrives, for callers that
    /// also wait for other events. poll(2).
    public var descriptor: Int32 { connection.descriptor }

    /// Calls a method and waits for its reply.
    ///
    /// - Parameters:
    ///   - method: the method, a type in ``Methods``.
    ///   - parameters: the parameters of the call.
    /// - Returns: the parameters of the reply.
    /// - Throws: ``ClientError`` with the code ``ClientError/Code/refused(_:)`` if the daemon
    ///   answers with an error, or with another code if the call fails.
    public func call<M: Method>(
        _ method: M.Type = M.self, _ parameters: M.Parameters
    ) throws(ClientError) -> M.Reply {
        try send(Call(M.name, parameters: parameters))
        return try reply(to: method).parameters
    }

    /// Calls a method that can reply more than once.
    ///
    /// - Parameters:
    ///   - method: the method, a type in ``Methods``.
    ///   - parameters: the parameters of the call.
    /// - Returns: the replies as they arrive.
    /// - Throws: ``ClientError`` if the call cannot be sent.
    public func stream<M: Method>(
        _ method: M.Type = M.self, _ parameters: M.Parameters
    ) throws(ClientError) -> ReplyStream<M> {
        try send(Call(M.name, parameters: parameters, more: true))
        return ReplyStream(client: self)
    }
}

extension Client {
    func send<Parameters>(_ call: Call<Parameters>) throws(ClientError) {
        let message = Message.encode(call)
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
            throw ClientError(.invalidReply, "cannot understand the daemon's reply: \(error)")
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
        try receive { (connection, input) throws(ClientError) in
            try connection.receive(into: &input)
        }
    }

    /// Receives bytes in the given way, which returns `false` if the daemon has hung up.
    func receive(
        _ body: (borrowing SocketConnection, inout InputBuffer) throws(ClientError) -> Bool
    ) throws(ClientError) {
        guard input.count <= Message.maximumLength else { throw tooLarge("the reply") }
        if !hasAnswered, !connection.hasInput(within: Self.patience) { try checkForDaemon() }
        hasAnswered = true
        guard try body(connection, &input) else {
            throw ClientError(
                .disconnected, "the daemon at \(path) closed the connection before it replied")
        }
    }

    /// Asks the daemon something that it answers at once. A service manager listens at the socket, and the kernel connects
    /// clients, also if the daemon cannot start.
    private func checkForDaemon() throws(ClientError) {
        hasAnswered = SocketConnection.isAnswered(at: path, within: Self.patience)
        guard !hasAnswered else { return }
        throw ClientError(
            .noDaemon,
            "something listens at \(path), and no daemon answers: look at `systemctl status cached`, "
                + "with --user for your own, and at `cached --check-config`")
    }

    private func tooLarge(_ subject: String) -> ClientError {
        ClientError(
            .messageTooLarge,
            "\(subject) is longer than \(Message.maximumLength) bytes: "
                + "ask about fewer URLs at once")
    }
}

extension Client {
    /// Waits for a complete reply. Returns `false` if the time is over, or if a signal was handled. poll(2).
    func waitForReply(milliseconds: Int32) throws(ClientError) -> Bool {
        while !input.hasMessage() {
            let time = hasAnswered || milliseconds >= 0 ? milliseconds : Self.patience
            switch connection.waitForInput(milliseconds: time) {
            case 0:
                let silence = ContinuousClock.now - connectedAt
                if !hasAnswered, silence >= .milliseconds(Self.patience) { try checkForDaemon() }
                if milliseconds >= 0 { return false }
            case 1...: try receive()
            default:
                guard errno == EINTR else { throw connection.failure("wait for") }
                return false
            }
        }
        return true
    }
}

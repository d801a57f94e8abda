import CacheWire
import TestSupport

/// A client of a daemon that can end at any time; from then on every reply is `nil`.
struct CacheClient: Sendable {
    private let connection: VarlinkConnection?

    /// Connects; the connection is closed when the scope ends.
    init(_ socket: String, in scope: TestScope) {
        connection = try? VarlinkConnection(socket, in: scope)
    }

    /// Calls a method and waits for its single reply.
    func call<M: Method>(_ method: M.Type, _ parameters: M.Parameters) async throws -> M.Reply? {
        guard await send(Call(M.name, parameters: parameters)) else { return nil }
        return try await reply(to: method)?.parameters
    }

    /// Calls a method and passes each reply to `body`, with whether it is the last one. Returns `false` if
    /// the last reply never came.
    func stream<M: Method>(
        _ method: M.Type, _ parameters: M.Parameters, _ body: (M.Reply, Bool) -> Void
    ) async throws -> Bool {
        guard await send(Call(M.name, parameters: parameters, more: true)) else { return false }
        while let reply = try await reply(to: method), let parameters = reply.parameters {
            let isLast = reply.continues != true
            body(parameters, isLast)
            if isLast { return true }
        }
        return false
    }

    private func send(_ call: some JSONWritable) async -> Bool {
        guard let connection else { return false }
        return (try? await connection.send(Message.encode(call))) != nil
    }

    private func reply<M: Method>(to _: M.Type) async throws -> Reply<M.Reply>? {
        guard let message = try await connection?.receive() else { return nil }
        let reply: Reply<M.Reply> = try Message.decode(from: message)
        switch reply.error {
        case nil: return reply
        case .shuttingDown: return nil
        case .some(let error): throw TestFailure("\(M.name): \(error)")
        }
    }
}

import CacheWire

/// A connection whose calls nobody waits for: replies go to whoever called when they are there.
final class PipelinedClient {
    private let client: Client
    /// The calls whose replies are not complete, in order. Each takes what has come, and says whether
    /// that was the last of it.
    private var open: [() throws -> Bool] = []

    init(_ client: Client) {
        self.client = client
    }

    /// Readable when a reply may be there.
    var descriptor: Int32 { client.descriptor }

    /// Whether any reply is to come.
    var isWaiting: Bool { !open.isEmpty }

    /// Calls a method; a stream that runs here ends with its last reply.
    func call<M: Method>(
        _ method: M.Type, _ parameters: M.Parameters, then take: @escaping (M.Reply) throws -> Void
    ) throws {
        var replies = try client.stream(method, parameters)
        open.append {
            while try replies.isReady(within: 0) {
                guard let reply = try replies.next() else { return true }
                try take(reply)
            }
            return false
        }
    }

    /// Hands on all replies that have come.
    func takeReplies() throws {
        while let first = open.first, try first() { open.removeFirst() }
    }
}

import CacheWire

/// Sends calls without waiting for their replies. Each reply is handed to the closure of its call.
final class PipelinedClient {
    private let client: Client
    /// The calls that await replies, in order. Each closure handles the replies that have arrived
    /// and returns whether the last one was among them.
    private var open: [() throws -> Bool] = []

    init(_ client: Client) {
        self.client = client
    }

    /// Becomes readable when a reply arrives.
    var descriptor: Int32 { client.descriptor }

    /// Whether any call awaits a reply.
    var isWaiting: Bool { !open.isEmpty }

    /// Calls a method. The daemon ends a stream that is running on this connection.
    ///
    /// - Parameter refused: called in place of `handle` if the daemon refuses the call. Without it,
    ///   ``handleReplies()`` throws the refusal.
    func call<M: Method>(
        _ method: M.Type, _ parameters: M.Parameters,
        refused: ((String) -> Void)? = nil, then handle: @escaping (M.Reply) throws -> Void
    ) throws {
        var replies = try client.stream(method, parameters)
        open.append {
            do {
                while try replies.isReady(within: 0) {
                    guard let reply = try replies.next() else { return true }
                    try handle(reply)
                }
            } catch let error as ClientError {
                guard case .refused = error.code, let refused else { throw error }
                refused(error.message)
                return true
            }
            return false
        }
    }

    /// Handles all replies that have arrived.
    func handleReplies() throws {
        while let first = open.first, try first() { open.removeFirst() }
    }
}

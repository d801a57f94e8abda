/// The replies to one call that asked for more than one.
public struct ReplyStream<M: Method> {
    private let client: Client
    private var isOver = false

    init(client: Client) {
        self.client = client
    }

    /// Waits for the next reply; `nil` after the last one.
    public mutating func next() throws(ClientError) -> M.Reply? {
        guard !isOver else { return nil }
        let reply = try client.reply(to: M.self)
        isOver = !reply.continues
        return reply.parameters
    }

    /// Waits until ``next()`` will not wait (`true`), but no longer than so many milliseconds.
    public func isReady(within milliseconds: Int32) throws(ClientError) -> Bool {
        isOver ? true : try client.waitForReply(milliseconds: milliseconds)
    }
}

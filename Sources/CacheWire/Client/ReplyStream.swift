/// The replies to a call that can reply more than once; see ``Client/stream(_:_:)``.
///
///     var replies = try client.stream(Methods.Watch.self, .init())
///     while let reply = try replies.next() {
///         print(reply.items.count)
///     }
public struct ReplyStream<M: Method> {
    private let client: Client
    private var isOver = false

    init(client: Client) {
        self.client = client
    }

    /// Waits for the next reply.
    ///
    /// - Returns: the parameters of the reply; `nil` after the last one.
    /// - Throws: ``ClientError`` if the daemon answers with an error or disconnects.
    public mutating func next() throws(ClientError) -> M.Reply? {
        guard !isOver else { return nil }
        let reply = try client.reply(to: M.self)
        isOver = !reply.continues
        return reply.parameters
    }

    /// Waits until ``next()`` can return at once.
    ///
    /// - Parameter milliseconds: the longest wait; -1 for no limit.
    /// - Returns: whether ``next()`` can return at once; `false` if the time is over, or if a signal was handled.
    /// - Throws: ``ClientError`` if the daemon disconnects.
    public func isReady(within milliseconds: Int32) throws(ClientError) -> Bool {
        isOver ? true : try client.waitForReply(milliseconds: milliseconds)
    }
}

import CacheWire

/// Watches over one connection until the reader of standard output goes away.
struct WatchSession {
    let client: Client
    /// `nil` watches everything.
    let urls: URLList?

    /// While nothing changes, the session checks at this interval whether standard output is still
    /// being read.
    private static let tickMilliseconds: Int32 = 1000

    /// Hands each reply to `handle`. Ends when `handle` throws or the daemon disconnects.
    ///
    /// - Parameter begun: called whenever a stream has begun, before its first reply, which has the current state.
    func run(
        begun: () throws -> Void = {}, _ handle: (Methods.Watch.Reply) throws -> Void
    ) throws {
        while true {
            var replies = try client.stream(Methods.Watch.self, .init(urls: urls?.urls))
            // Removals are reported from here on.
            _ = try replies.isReady(within: Self.tickMilliseconds)
            try begun()
            while let reply = try replies.next() {
                try handle(reply)
                while try !replies.isReady(within: Self.tickMilliseconds) {
                    if StandardStream.output.isAbandoned { throw BrokenPipe() }
                }
            }
            // The stream ended because the daemon could not remember all changes. The next call
            // starts from the current state.
        }
    }
}

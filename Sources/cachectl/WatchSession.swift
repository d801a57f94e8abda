import CacheWire

/// One connection that watches for as long as somebody reads what comes of it.
struct WatchSession {
    let client: Client
    /// `nil`: everything.
    let urls: URLList?

    /// That often it is asked whether standard output is still read, while nothing changes.
    private static let tickMilliseconds: Int32 = 1000

    /// Hands on one reply after the other; ends by what `take` throws, or when the daemon goes.
    func run(_ take: (Methods.Watch.Reply) throws -> Void) throws {
        while true {
            var replies = try client.stream(Methods.Watch.self, .init(urls: urls?.urls))
            while let reply = try replies.next() {
                try take(reply)
                while try !replies.isReady(within: Self.tickMilliseconds) {
                    if StandardStream.output.isAbandoned { throw BrokenPipe() }
                }
            }
            // So much had changed that the daemon did not remember all of it: from the beginning.
        }
    }
}

import CacheWire
import Glibc

/// Watches until the reader of standard output goes away. It goes on over a restart of the daemon.
struct WatchSession {
    let client: Client
    /// Connects to the next daemon.
    let connect: () throws -> Client
    /// `nil` watches everything.
    let urls: URLList?

    /// While nothing changes, the session checks at this interval whether standard output is still
    /// being read.
    private static let tickMilliseconds: Int32 = 1000

    /// While there is no daemon, the session looks for one at this interval. usleep(3).
    private static let lookMicroseconds: UInt32 = 500_000

    /// Hands each reply to `handle`. Ends when `handle` throws.
    ///
    /// - Parameter begun: called whenever a stream has begun, before its first reply, which has the current state.
    func run(
        begun: () throws -> Void = {}, _ handle: (Methods.Watch.Reply) throws -> Void
    ) throws {
        var client = client
        while true {
            do {
                try watch(over: client, begun, handle)
            } catch let error as ClientError where error.isEndOfDaemon {
                StandardError.report("the daemon has ended: waiting for the next one")
                client = try next()
            }
        }
    }

    private func watch(
        over client: Client, _ begun: () throws -> Void,
        _ handle: (Methods.Watch.Reply) throws -> Void
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

    private func next() throws -> Client {
        while true {
            do {
                return try connect()
            } catch let error as ClientError where error.code == .noDaemon {
                if StandardStream.output.isAbandoned { throw BrokenPipe() }
                usleep(Self.lookMicroseconds)
            }
        }
    }
}

extension ClientError {
    /// Whether the daemon has ended, or says that it does.
    fileprivate var isEndOfDaemon: Bool {
        switch code {
        case .disconnected: true
        case .refused(let error): error == WireError.shuttingDown
        default: false
        }
    }
}

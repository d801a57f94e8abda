import CLinux
import CacheWire

/// A daemon that answers: its process and its figures.
struct DaemonFacts: Sendable {
    /// The path of the socket at which it answers.
    let socket: String
    /// The process ID; 0 if it is in another namespace. unix(7), `SO_PEERCRED`.
    let process: Int
    /// The user ID of the daemon.
    let user: UInt32
    let stats: [String: JSONValue]

    /// A daemon that is well answers within milliseconds.
    private static let patience: Int32 = 5000

    init(socket flag: String?) throws(ClientError) {
        let client = try Client(socket: flag)
        var peer = clinux_peer()
        let isKnown = clinux_peer_of(client.descriptor, &peer) == 0
        socket = client.path
        process = isKnown ? Int(peer.process) : 0
        user = isKnown ? peer.user : .max
        var replies = try client.stream(Methods.Stats.self, .init())
        guard try replies.isReady(within: Self.patience), let reply = try replies.next() else {
            throw ClientError(
                .disconnected, "the daemon at \(client.path) has not answered for 5 s")
        }
        stats = reply.stats
    }

    var directory: String? {
        guard case .string(let path)? = stats["directory"] else { return nil }
        return path
    }
}

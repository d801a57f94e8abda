import CLinux
import CacheCore
import CacheValues
import CacheWire
import Glibc
import Logging

import struct SystemPackage.Errno

/// Accepts as many clients as there are descriptors for, and leaves enough for the cache's own work: downloads
/// continue however many clients there are. A client for whom there is no seat gets an error, and its connection is
/// closed. accept(2).
struct Acceptor {
    /// The shortest time between two lines in the log about clients that were refused.
    private static let warningInterval = Duration.seconds(60)
    /// The most clients that are accepted at once, while others wait for their answers.
    private static let batch = 16

    var descriptor: Int32
    private let connections: OpenConnections
    private let logger: Logger
    private var lastWarning: [UserID: ContinuousClock.Instant] = [:]
    private var hasWarnedOfErrors = false

    init(_ descriptor: Int32, _ connections: OpenConnections, _ logger: Logger) {
        (self.descriptor, self.connections, self.logger) = (descriptor, connections, logger)
    }

    /// Passes clients that wait to `admit`. Returns `false` if something is missing that is not counted here, such as
    /// the descriptors of the whole machine. Most such shortages are short.
    mutating func accept(_ admit: (Int32, UserID) -> Void) -> Bool {
        for _ in 0..<Self.batch {
            let client = clinux_accept(descriptor)
            guard client >= 0 else {
                switch errno {
                case EAGAIN: return true
                case EINTR, ECONNABORTED: continue
                case let error:
                    warn(ofError: error)
                    return false
                }
            }
            let user = Peer.user(of: client)
            if connections.take(user) {
                admit(client, user)
            } else {
                refuse(client, user)
            }
        }
        return true
    }

    /// Says why the connection closes. The client reads the reply even if the connection is closed before it calls. A
    /// new connection has room for the reply. unix(7)
    private mutating func refuse(_ client: Int32, _ user: UserID) {
        let limit = connections.limit(of: user)
        warn(of: user, limit)
        let reply = Message.json(WireError.tooManyConnections(limit: limit)) + [0]
        _ = send(client, reply, reply.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        close(client)
    }

    private mutating func warn(of user: UserID, _ limit: Int) {
        let now = ContinuousClock.now
        if let last = lastWarning[user], now - last < Self.warningInterval { return }
        lastWarning = lastWarning.filter { now - $0.value < Self.warningInterval }
        lastWarning[user] = now
        logger.warning(
            """
            too many connections, further ones of this user are refused; close those that are not needed, \
            or raise the limit of open files
            """,
            metadata: [
                "user": "\(user.rawValue)", "limit": "\(limit)",
                "connections": "\(connections.count)",
            ])
    }

    private mutating func warn(ofError error: Int32) {
        guard !hasWarnedOfErrors else { return }
        hasWarnedOfErrors = true
        logger.warning(
            "cannot accept clients for now, they wait; check the limits of open files",
            metadata: [
                "error": "\(Errno(rawValue: error))", "connections": "\(connections.count)",
            ])
    }
}

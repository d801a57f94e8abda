import CLinux
import CacheCore
import CacheValues
import Glibc
import NIOCore
import NIOPosix

/// The process that connected to the socket, as the kernel recorded it then. socket(7), `SO_PEERCRED`,
/// `SO_PEERGROUPS`.
struct Peer: Sendable {
    let user: uid_t
    /// 0 for a process in another PID namespace.
    let process: pid_t
    /// All groups of the process.
    let groups: Set<gid_t>
    /// Whether it lives in other namespaces than the programs around the daemon, as in a sandbox.
    let isGuest: Bool

    /// The most groups that a user can have. `NGROUPS_MAX`
    private static let mostGroups = 65536

    init(user: uid_t, process: pid_t, groups: Set<gid_t>, isGuest: Bool = false) {
        (self.user, self.process, self.groups, self.isGuest) = (user, process, groups, isGuest)
    }

    /// The process at the other end of a connection. Used on the event loop of the channel.
    ///
    /// - Parameter home: the namespaces of the programs around the daemon.
    init?(of channel: any Channel, home: Namespaces) {
        let peer = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { Peer(of: $0, home: home) }
        guard let peer = peer ?? nil else { return nil }
        self = peer
    }

    /// The user whose share a client takes. All clients whose users the kernel does not report count as one user.
    static func user(of peer: Peer?) -> UserID {
        UserID(rawValue: peer?.user ?? unknown)
    }

    /// The user at the other end of a connected Unix socket.
    static func user(of descriptor: Int32) -> UserID {
        var credentials = clinux_peer()
        let isKnown = clinux_peer_of(descriptor, &credentials) == 0
        return UserID(rawValue: isKnown ? credentials.user : unknown)
    }

    /// The user "nobody" of the kernel, which also stands for users of other namespaces. user_namespaces(7)
    private static let unknown: uid_t = 65534

    /// `nil` if the descriptor is no connected Unix socket.
    init?(of descriptor: Int32, home: Namespaces) {
        var credentials = clinux_peer()
        guard clinux_peer_of(descriptor, &credentials) == 0 else { return nil }
        let more = withUnsafeTemporaryAllocation(of: gid_t.self, capacity: Self.mostGroups) {
            let count = clinux_peer_groups(descriptor, $0.baseAddress, Int32($0.count))
            return Array($0.prefix(max(0, Int(count))))
        }
        self.init(
            user: credentials.user, process: credentials.process,
            groups: Set(more + [credentials.group]),
            isGuest: Self.isGuest(descriptor, credentials.process, home))
    }

    /// Another process can have the number of one that has ended, so what is seen counts only if it has not.
    private static func isGuest(
        _ descriptor: Int32, _ process: pid_t, _ home: Namespaces
    ) -> Bool {
        guard home.haveGuests else { return false }
        let handle = clinux_peer_process(descriptor)
        let isUnknown = handle < 0 && errno != ENOPROTOOPT
        defer { if handle >= 0 { close(handle) } }
        guard process > 0, !isUnknown else { return true }
        let isElsewhere = Namespaces(of: "\(process)").differ(from: home)
        var state = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
        return isElsewhere || poll(&state, 1, 0) > 0
    }
}

import CLinux
import Glibc

/// The process that connected to the socket, as the kernel recorded it then. socket(7), `SO_PEERCRED`,
/// `SO_PEERGROUPS`.
struct Peer: Sendable {
    let user: uid_t
    /// 0 for a process in another PID namespace.
    let process: pid_t
    /// All groups of the process.
    let groups: Set<gid_t>

    /// The most groups that a user can have. `NGROUPS_MAX`
    private static let mostGroups = 65536

    init(user: uid_t, process: pid_t, groups: Set<gid_t>) {
        (self.user, self.process, self.groups) = (user, process, groups)
    }

    /// `nil` if the descriptor is no connected Unix socket.
    init?(of descriptor: Int32) {
        var credentials = clinux_peer()
        guard clinux_peer_of(descriptor, &credentials) == 0 else { return nil }
        let more = withUnsafeTemporaryAllocation(of: gid_t.self, capacity: Self.mostGroups) {
            let count = clinux_peer_groups(descriptor, $0.baseAddress, Int32($0.count))
            return Array($0.prefix(max(0, Int(count))))
        }
        self.init(
            user: credentials.user, process: credentials.process,
            groups: Set(more + [credentials.group]))
    }
}

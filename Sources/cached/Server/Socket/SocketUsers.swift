import CLinux
import Glibc

/// The users other than its owner to whom a socket can be open.
enum SocketUsers: String, CaseIterable {
    case group = "its group"
    case others = "all users"

    /// The permission to connect. unix(7).
    var connects: mode_t {
        switch self {
        case .group: 0o020
        case .others: 0o002
        }
    }

    /// Whether they may search a directory. For members of its group, only the permissions of the group count.
    func maySearch(_ status: stat, group: gid_t) -> Bool {
        let isMember = self == .group && status.st_gid == group
        return status.st_mode & (isMember ? 0o010 : 0o001) != 0
    }

    func remedy(_ group: gid_t) -> String {
        switch self {
        case .group: "chgrp \(group) and chmod g+x"
        case .others: "chmod o+x"
        }
    }
}

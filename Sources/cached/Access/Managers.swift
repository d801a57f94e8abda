import CacheCore
import CacheValues
import Glibc

/// The users who may change the cache: its owner, root, and the configured groups and users. Everyone else who may
/// connect can ask and fetch.
struct Managers: Sendable {
    /// The most that can be named. Each is looked up at the start.
    static let most = 1000

    private let owner: uid_t
    private var users: Set<uid_t>
    private var groups: Set<gid_t> = []

    /// - Parameters:
    ///   - owner: the user whose process the daemon is.
    ///   - names: groups and users by name or number. A group comes first if both have the name.
    init(owner: uid_t = geteuid(), names: [String] = []) throws(UnknownAccount) {
        self.owner = owner
        users = [owner, 0]
        for name in names {
            if let group = UserDatabase.group(name) {
                groups.insert(group)
            } else if let user = UserDatabase.user(name) {
                users.insert(user)
            } else {
                throw UnknownAccount(name: name)
            }
        }
    }

    /// Neither a group nor a user of this machine has this name.
    struct UnknownAccount: Error {
        let name: String
    }

    /// A program in a sandbox is nobody's manager, whoever has started it.
    func include(_ peer: Peer) -> Bool {
        !peer.isGuest && (users.contains(peer.user) || !groups.isDisjoint(with: peer.groups))
    }

    /// The owner and root, whom no limit for users keeps from asking.
    var owners: Set<UserID> { [UserID(rawValue: owner), UserID(rawValue: 0)] }

    func isOwner(_ peer: Peer) -> Bool { peer.user == owner }
}

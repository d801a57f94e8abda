import CacheCore
import CacheFetching
import CacheValues

/// The connections that the limit of open files allows, and their users.
///
/// A user has at most a quarter of them, and all users together leave an eighth. The owner of the cache and root can
/// have the rest too: so the only user of a private daemon is not limited, and nobody keeps the administrator of a
/// shared one from asking it.
struct ConnectionSeats {
    /// The most connections at once.
    let limit: Int
    private let privileged: Set<UserID>
    /// The connections of each user who has any.
    private var taken = Tally<UserID>()
    /// Those that are not the owner's or root's.
    private var others = 0

    /// All connections.
    var count: Int { taken.total }

    /// The connections of each user who has any.
    var countByUser: [UserID: Int] { taken.counts }

    /// A quarter is at least this many, if there are so many.
    private static let leastShare = 8

    init(limit: Int, privileged: Set<UserID>) {
        (self.limit, self.privileged) = (limit, privileged)
    }

    /// The most connections that a user can have.
    func limit(of user: UserID) -> Int {
        privileged.contains(user) ? limit : min(limitOfOthers, max(Self.leastShare, limit / 4))
    }

    /// The most that all users together can have, apart from the owner and root.
    private var limitOfOthers: Int { limit - limit / 8 }

    /// A user connects. Returns `false` if there is no seat for this user.
    mutating func take(_ user: UserID) -> Bool {
        let isOther = !privileged.contains(user)
        guard count < limit, taken[user] < limit(of: user),
            !isOther || others < limitOfOthers
        else { return false }
        taken.add(to: user)
        if isOther { others += 1 }
        return true
    }

    /// A connection of a user has closed.
    mutating func leave(_ user: UserID) {
        taken.remove(from: user)
        if !privileged.contains(user) { others -= 1 }
    }
}

import CacheCore

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
    private(set) var taken: [UserID: Int] = [:]
    private(set) var count = 0
    /// Those that are not the owner's or root's.
    private var others = 0

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
        guard count < limit, taken[user, default: 0] < limit(of: user),
            !isOther || others < limitOfOthers
        else { return false }
        taken[user, default: 0] += 1
        count += 1
        if isOther { others += 1 }
        return true
    }

    /// A connection of a user has closed.
    mutating func leave(_ user: UserID) {
        let left = taken[user, default: 0] - 1
        taken[user] = left > 0 ? left : nil
        count -= 1
        if !privileged.contains(user) { others -= 1 }
    }
}

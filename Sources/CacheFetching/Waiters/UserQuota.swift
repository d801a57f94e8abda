package import CacheValues

/// Limits the number of things that each user has, and the number that all users have together.
package struct UserQuota: Sendable {
    /// The most that one user can have.
    package let limit: Int
    private var tally = Tally<UserID>()

    /// The number of things of all users.
    package var count: Int { tally.total }
    /// The number of things of each user who has any.
    package var counts: [UserID: Int] { tally.counts }

    /// The number of users for whom the limit of all users is enough.
    private static let users = 4

    package init(limit: Int) { self.limit = limit }

    package func admits(_ more: Int, of user: UserID) -> Bool {
        hasRoom(more, of: user)
            && (count + more) / Self.users <= limit
    }

    /// Whether the user's own limit admits `more`.
    package func hasRoom(_ more: Int, of user: UserID) -> Bool {
        tally[user] + more <= limit
    }

    package mutating func add(_ more: Int, of user: UserID) {
        tally.add(more, to: user)
    }

    package mutating func remove(_ fewer: Int, of user: UserID) {
        tally.remove(fewer, from: user)
    }
}

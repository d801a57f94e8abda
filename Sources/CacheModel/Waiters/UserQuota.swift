/// Limits the number of things that each user has, and the number that all users have together.
package struct UserQuota: Sendable {
    /// The most that one user can have.
    package let limit: Int
    /// The number of things of all users.
    package private(set) var count = 0
    /// The number of things of each user who has any.
    package private(set) var counts: [UserID: Int] = [:]

    /// The number of users for whom the limit of all users is enough.
    private static let users = 4

    package init(limit: Int) { self.limit = limit }

    package func admits(_ more: Int, of user: UserID) -> Bool {
        hasRoom(more, of: user)
            && (count + more) / Self.users <= limit
    }

    /// Whether the user's own limit admits `more`.
    package func hasRoom(_ more: Int, of user: UserID) -> Bool {
        counts[user, default: 0] + more <= limit
    }

    package mutating func add(_ more: Int, of user: UserID) {
        count += more
        counts[user, default: 0] += more
    }

    package mutating func remove(_ fewer: Int, of user: UserID) {
        count -= fewer
        let left = counts[user, default: 0] - fewer
        counts[user] = left > 0 ? left : nil
    }
}

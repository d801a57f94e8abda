import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching

/// The memory of a user, and the downloads that go on without a caller, are limited like this.
@Suite("User quota")
struct UserQuotaTests {
    private let users = (1...6).map { UserID(rawValue: $0) }

    @Test func oneUserCanHaveAsManyAsTheLimit() {
        var quota = UserQuota(limit: 500)
        quota.add(400, of: users[0])
        #expect(quota.admits(100, of: users[0]))
        #expect(!quota.admits(101, of: users[0]))
        #expect(quota.admits(500, of: users[1]))
        quota.remove(300, of: users[0])
        #expect(quota.admits(400, of: users[0]) && !quota.admits(401, of: users[0]))
    }

    @Test func allUsersTogetherHaveFourTimesTheLimit() {
        var quota = UserQuota(limit: 500)
        for user in users.prefix(4) { quota.add(500, of: user) }
        #expect(quota.hasRoom(4, of: users[4]) && !quota.admits(4, of: users[4]))
        quota.remove(10, of: users[0])
        #expect(quota.admits(10, of: users[4]))
        #expect(quota.count == 1990)
    }
}

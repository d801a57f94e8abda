import CacheCore
import CacheFetching
import CacheValues

/// Limits the memory that the daemon holds for its clients: one sum for each user, on however many connections, and one
/// for all users.
///
/// A call that would exceed a sum is refused before it takes anything. Messages that arrive and answers cannot be
/// refused. If they exceed a sum, clients have to be given up: those of users with much, first the one that has sent and
/// read nothing for the longest time.
struct HeldMemory<Client: AnyObject> {
    /// What one client holds, in bytes.
    struct Share {
        /// The call that is being answered, and the URLs that it names.
        var call = 0
        /// Messages that are incomplete or wait for a thread, and answers that the client has not read.
        var waiting = 0
        /// All that the client has ever read.
        var read = 0
        /// When the client last sent something, in nanoseconds of a clock that never goes back.
        var lastSent: UInt64 = 0

        var bytes: Int { call + waiting }
    }

    private struct Holding {
        let client: Client
        let user: UserID
        var share: Share
        /// When the client last sent something, or was found to have read something.
        var lastProgress: UInt64
    }

    private var quota: UserQuota
    private var holdings: [ObjectIdentifier: Holding] = [:]

    /// - Parameter limit: the sum of one user. All users together have four times that.
    init(limit: Int) { quota = UserQuota(limit: limit) }

    /// The bytes of all clients together.
    var bytes: Int { quota.count }

    /// The clients for whom memory is held, as far as was recorded.
    var clients: [Client] { holdings.values.map(\.client) }

    /// Records what a client holds now.
    mutating func record(_ share: Share, of client: Client, _ user: UserID, at time: UInt64) {
        let before = forget(client)
        guard share.bytes > 0 else { return }
        quota.add(share.bytes, of: user)
        let hasRead = share.read > before?.share.read ?? share.read
        let last = max(before?.lastProgress ?? 0, share.lastSent, hasRead ? time : 0)
        holdings[ObjectIdentifier(client)] = Holding(
            client: client, user: user, share: share, lastProgress: last)
    }

    /// A client holds nothing any more. Returns what it held.
    @discardableResult
    private mutating func forget(_ client: Client) -> Holding? {
        guard let holding = holdings.removeValue(forKey: ObjectIdentifier(client)) else {
            return nil
        }
        quota.remove(holding.share.bytes, of: holding.user)
        return holding
    }

    /// Whether a call of a user can hold so many bytes more.
    func admits(_ more: Int, of user: UserID) -> Bool { quota.admits(more, of: user) }

    /// Whether the sum of the user or that of all is exceeded.
    func isExceeded(by user: UserID) -> Bool { !quota.admits(0, of: user) }

    /// Forgets the clients to give up after a sum was exceeded, and returns them. Then an eighth of the sum is free, so
    /// that the search is not needed again soon.
    mutating func takeSilent() -> [Client] {
        let waiting = holdings.values.filter { $0.share.waiting > 0 }
        var silent: [Client] = []
        for holding in waiting.sorted(by: { $0.lastProgress < $1.lastProgress })
        where hasMuch(holding.user) {
            forget(holding.client)
            silent.append(holding.client)
        }
        return silent
    }

    /// Whether a user has more than seven eighths of the sum. If all users have, then more than most of them.
    private func hasMuch(_ user: UserID) -> Bool {
        let slack = quota.limit / 8
        let counts = quota.counts
        return !quota.hasRoom(slack, of: user)
            || !quota.admits(slack, of: user)
                && counts[user, default: 0] * counts.count >= quota.count
    }
}

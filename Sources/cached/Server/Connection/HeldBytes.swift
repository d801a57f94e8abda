import CacheCore
import CacheModel

/// Limits the bytes that the daemon holds for its clients, for all together and for each user: answers that they have
/// not read, or long messages that wait for a thread.
///
/// A short call can have a long answer, so many connections that ask and do not read would fill the memory. If a limit
/// is exceeded, clients of the user with the most bytes have to be given up: first the one that has read nothing for
/// the longest time.
struct HeldBytes<Client: AnyObject, User: Hashable & Sendable> {
    private struct Holding {
        let client: Client
        let user: User
        var bytes = 0
        /// All bytes that the client has read.
        var read = 0
        /// Grows with every record that shows that the client has read: the smallest belongs to the client that has
        /// read nothing for the longest time.
        var lastRead: UInt64
    }

    private let limit: Int
    private let userLimit: Int
    private var holdings: [ObjectIdentifier: Holding] = [:]
    private var held = Tally<User>()
    private var records: UInt64 = 0

    init(limit: Int, userLimit: Int) {
        (self.limit, self.userLimit) = (limit, userLimit)
    }

    /// The bytes of all clients together.
    var bytes: Int { held.total }

    /// The clients for whom bytes are held, as far as was recorded.
    var clients: [Client] { holdings.values.map(\.client) }

    /// Records the bytes that are held for a client, and those that it has read in all.
    mutating func record(_ held: Int, read: Int, of client: Client, _ user: User) {
        records += 1
        let id = ObjectIdentifier(client)
        var entry = holdings[id] ?? Holding(client: client, user: user, lastRead: records)
        if read > entry.read { entry.lastRead = records }
        self.held.remove(entry.bytes, from: user)
        self.held.add(held, to: user)
        (entry.bytes, entry.read) = (held, read)
        holdings[id] = held > 0 ? entry : nil
    }

    /// Nothing is held for the client any more.
    mutating func forget(_ client: Client) {
        guard let entry = holdings[ObjectIdentifier(client)] else { return }
        record(0, read: entry.read, of: client, entry.user)
    }

    /// Whether the limit of the user or that of all is exceeded.
    func isExceeded(by user: User) -> Bool {
        bytes > limit || held[user] > userLimit
    }

    /// The next client to give up after a limit was exceeded; `nil` once an eighth of the limits is free, so that the
    /// search is not needed again soon.
    var nextToGiveUp: Client? {
        guard let (user, most) = held.counts.max(by: { $0.value < $1.value }),
            bytes > limit / 8 * 7 || most > userLimit / 8 * 7
        else { return nil }
        return holdings.values.filter { $0.user == user }.min { $0.lastRead < $1.lastRead }?.client
    }
}

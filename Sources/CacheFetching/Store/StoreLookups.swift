package import CacheKey
package import CacheValues

/// The questions to the store: those that wait for their turn, and those that run.
package struct StoreLookups: Sendable {
    private typealias Turn = FairQueue<CacheKey>.Turn

    /// The turn of each key that waits.
    private var waiting: [CacheKey: Turn] = [:]
    private var queue = FairQueue<CacheKey>()
    /// The user for whom each question runs.
    private var running: [FlightID: UserID] = [:]
    private var runningByUser = Tally<UserID>()

    /// Questions that run at once.
    package static let most = 32

    package init() {}

    package var isAnyWaiting: Bool { !waiting.isEmpty }

    package var isAnyRunning: Bool { !running.isEmpty }

    package var runningCount: Int { running.count }

    /// Some of the keys that wait, in no order.
    package func someWaiting(limit: Int) -> [CacheKey] { Array(waiting.keys.prefix(limit)) }

    /// Adds a key, or moves it to the place of a higher priority.
    package mutating func add(_ key: CacheKey, _ priority: Priority, for client: ClientID) {
        if let former = waiting[key] {
            guard former.priority < priority else { return }
            forget(key)
        }
        let turn = Turn(key, client, priority)
        waiting[key] = turn
        queue.append(turn)
    }

    /// The key no longer waits, because its download ends or starts.
    package mutating func forget(_ key: CacheKey) {
        if let turn = waiting.removeValue(forKey: key) { queue.remove(turn) }
    }

    /// Takes the key whose turn it is, if another question may run.
    ///
    /// - Parameters:
    ///   - limit: how many may run at once. One in eight is kept for users for whom none runs.
    ///   - prefetches: whether the turn of a prefetch comes at all.
    package mutating func takeNext(
        limit: Int = Self.most, prefetches: Bool = true
    ) -> (key: CacheKey, user: UserID)? {
        guard !waiting.isEmpty, running.count < limit else { return nil }
        let isScarce = running.count >= limit - limit / 8
        let turn = queue.first { [runningByUser] user in
            isScarce && runningByUser[user] > 0 ? nil : runningByUser[user]
        }
        guard let turn, prefetches || turn.priority != .background else { return nil }
        queue.hadTurn(turn)
        forget(turn.member)
        return (turn.member, turn.client.user)
    }

    package mutating func began(_ id: FlightID, for user: UserID) {
        running[id] = user
        runningByUser.add(to: user)
    }

    package mutating func ended(_ id: FlightID) {
        if let user = running.removeValue(forKey: id) { runningByUser.remove(from: user) }
    }
}

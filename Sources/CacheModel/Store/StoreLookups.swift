package import CacheKey

/// The questions to the store: those that wait for their turn, and those that run. The more urgent ones come first;
/// among equals, users take turns.
package struct StoreLookups: Sendable {
    /// The place of each key that waits.
    private var waiting: [CacheKey: Place] = [:]
    private var queues = [RoundRobin<UserID, CacheKey>](
        repeating: RoundRobin(), count: Priority.allCases.count)
    /// The user for whom each question runs.
    private var running: [FlightID: UserID] = [:]

    private struct Place {
        let priority: Priority
        let user: UserID
    }

    package init() {}

    package var isAnyWaiting: Bool { !waiting.isEmpty }

    package var isAnyRunning: Bool { !running.isEmpty }

    package var runningCount: Int { running.count }

    /// Some of the keys that wait, in no order.
    package func someWaiting(limit: Int) -> [CacheKey] { Array(waiting.keys.prefix(limit)) }

    /// Adds a key, or moves it to the place of a higher priority.
    package mutating func add(_ key: CacheKey, _ priority: Priority, for user: UserID) {
        if let former = waiting[key] {
            guard former.priority < priority else { return }
            forget(key)
        }
        waiting[key] = Place(priority: priority, user: user)
        queues[priority.index].append(user, key)
    }

    /// The key no longer waits, because its download ends or starts.
    package mutating func forget(_ key: CacheKey) {
        guard let place = waiting.removeValue(forKey: key) else { return }
        _ = queues[place.priority.index].remove(place.user, key)
    }

    /// Takes the key whose turn it is, if another question may run.
    ///
    /// - Parameter limit: how many may run at once. One in eight is kept for users for whom none runs.
    package mutating func takeNext(limit: Int) -> (key: CacheKey, user: UserID)? {
        guard !waiting.isEmpty, running.count < limit else { return nil }
        let hasReserve = running.count >= limit - limit / 8
        let busy = hasReserve ? Set(running.values) : []
        for index in queues.indices.reversed() {
            guard let (user, key) = queues[index].first(where: { !busy.contains($0) }) else {
                continue
            }
            queues[index].hadTurn(user)
            forget(key)
            return (key, user)
        }
        return nil
    }

    package mutating func began(_ id: FlightID, for user: UserID) { running[id] = user }

    package mutating func ended(_ id: FlightID) { running[id] = nil }
}

import CacheDisk
package import CacheKey

/// All downloads, at most one for each key.
///
/// Invariant: every download is wanted by a caller or by the daemon itself, or is being published.
package struct Downloads: Sendable {
    private var flights: [CacheKey: Flight] = [:]
    /// The number of images being published. Each has a file open.
    package private(set) var publishing = 0
    /// The number of downloads that wait. Counted as they change, because a count of all would hold the lock for long.
    package private(set) var queued = 0

    package var isEmpty: Bool { flights.isEmpty }

    package var all: some Collection<(key: CacheKey, value: Flight)> { flights }

    package subscript(key: CacheKey) -> Flight? { flights[key] }

    /// Cheaper than copying the flight.
    package func contains(_ key: CacheKey) -> Bool { flights.index(forKey: key) != nil }

    /// The flight of a key, unless a later flight has replaced it.
    package func flight(_ key: CacheKey, _ id: FlightID) -> Flight? {
        flights[key].flatMap { $0.id == id ? $0 : nil }
    }

    /// How a download uses the files of a key.
    func use(_ key: CacheKey) -> FileUse {
        guard let place = flights.index(forKey: key) else { return .none }
        let flight = flights.values[place]
        return flight.isQueued || flight.waitsForOthers ? .waiting : .running
    }

    package func isPublishing(_ key: CacheKey) -> Bool { flights[key]?.isPublishing == true }

    /// Begins a download.
    package mutating func insert(_ key: CacheKey, _ flight: Flight) {
        let former = flights.updateValue(flight, forKey: key)
        queued += (flight.phase == .queued ? 1 : 0) - (former?.phase == .queued ? 1 : 0)
    }

    /// Changes a flight in place. `nil` if there is none.
    @discardableResult
    package mutating func update<Result>(_ key: CacheKey, _ change: (inout Flight) -> Result)
        -> Result?
    {
        guard let place = flights.index(forKey: key) else { return nil }
        let wasQueued = flights.values[place].phase == .queued
        let result = change(&flights.values[place])
        let isQueued = flights.values[place].phase == .queued
        if wasQueued != isQueued { queued += isQueued ? 1 : -1 }
        return result
    }

    /// The whole image has arrived, or the origin confirmed the entry.
    package mutating func publish(_ key: CacheKey, losses: Int) {
        update(key) { $0.publishes(losses: losses) }
        publishing += 1
    }

    /// The image is about to get the bytes of an entry, without a download.
    package mutating func adopt(_ key: CacheKey, losses: Int) {
        update(key) { $0.adopts(losses: losses) }
        publishing += 1
    }

    /// A publication has ended. Its download ends or starts again.
    package mutating func publishingEnded() { publishing -= 1 }

    /// Ends a download.
    package mutating func remove(_ key: CacheKey) -> Flight? {
        let flight = flights.removeValue(forKey: key)
        if flight?.phase == .queued { queued -= 1 }
        return flight
    }

    /// Takes the table out if it has room for many more downloads than there are, because it does not shrink by itself.
    /// The caller releases it, which takes long for a large one.
    package mutating func takeOversizedTable() -> [CacheKey: Flight]? {
        guard flights.capacity >= Self.largeTable, flights.count <= Self.fewFlights else {
            return nil
        }
        let table = flights
        flights = Dictionary(uniqueKeysWithValues: table.lazy.map { ($0.key, $0.value) })
        return table
    }

    /// The room from which on a table counts as large, some megabytes, and how many downloads are copied at once.
    private static let largeTable = 16_384
    private static let fewFlights = 1024

    package func checkInvariants() {
        for (key, flight) in flights {
            precondition(
                flight.isWanted || flight.isPublishing, "no caller wants the download of \(key)")
        }
        let count = flights.values.count(where: \.isPublishing)
        precondition(count == publishing, "\(count) are being published, \(publishing) are counted")
        let waiting = flights.values.count { $0.phase == .queued }
        precondition(waiting == queued, "\(waiting) are queued, \(queued) are counted")
    }
}

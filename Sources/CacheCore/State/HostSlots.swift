internal import CacheKey

/// How many downloads each server has to bear at once, and who waits for a place at one.
///
/// libcurl can limit connections to a host itself, but what waits inside it is woken one at a time and
/// sometimes not at all (7.88), and would hold a transfer's place meanwhile.
struct HostSlots {
    /// Downloads from one host at once, at most.
    let limit: Int

    private var used: [Substring: Int] = [:]
    private var origins: [FlightID: Substring] = [:]
    private var waiting: [Substring: TransferQueue] = [:]
    /// Hosts that had a place freed since somebody waiting was let in.
    private var freed: [Substring] = []

    init(limit: Int) {
        self.limit = limit
    }

    /// Downloads under way.
    var running: Int { origins.count }

    func hasRoom(_ origin: Substring) -> Bool {
        used[origin, default: 0] < limit
    }

    /// A download begins.
    mutating func take(_ origin: Substring, _ id: FlightID) {
        used[origin, default: 0] += 1
        origins[id] = origin
    }

    /// A download is over, however it ended.
    mutating func release(_ id: FlightID) {
        guard let origin = origins.removeValue(forKey: id) else {
            preconditionFailure("download \(id.rawValue) ended twice")
        }
        let rest = used[origin, default: 1] - 1
        used[origin] = rest == 0 ? nil : rest
        if waiting[origin] != nil { freed.append(origin) }
    }

    /// A download has to wait until its host has a place.
    mutating func wait(_ origin: Substring, _ key: CacheKey, _ id: FlightID, _ priority: Priority) {
        waiting[origin, default: TransferQueue()].append(key, id, priority)
    }

    /// The next who waited and has a place now.
    mutating func next(where isCurrent: (CacheKey, FlightID, Priority) -> Bool) -> CacheKey? {
        while let origin = freed.popLast() {
            guard hasRoom(origin) else { continue }
            if let key = waiting[origin]?.next(where: isCurrent) { return key }
            waiting[origin] = nil
        }
        return nil
    }
}

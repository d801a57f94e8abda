internal import CacheKey

/// How many downloads each server has to bear at once.
///
/// libcurl can limit connections to a host itself, but what waits inside it is woken one at a time and
/// sometimes not at all (7.88), and would hold a transfer's place meanwhile.
struct HostSlots: Sendable {
    /// Downloads from one host at once, at most, where each takes a connection.
    let limit: Int

    /// Streams on the one connection to a host that speaks HTTP/2: what servers are advised to allow at
    /// least (RFC 9113 §6.5.2).
    static let streamLimit = 100
    /// Hosts remembered to speak HTTP/2.
    private static let memory = 4096

    private var used: [Origin: Int] = [:]
    private var origins: [FlightID: Origin] = [:]
    /// Downloads that were told to stop and have not yet.
    private var stopping: Set<FlightID> = []
    /// Hosts whose last answer came by HTTP/2.
    private var multiplexed: Set<Origin> = []

    init(limit: Int) {
        self.limit = limit
    }

    /// Downloads under way.
    var running: Int { origins.count }

    /// Whether a place is about to become free.
    var isClearing: Bool { !stopping.isEmpty }

    /// Whether a place at this host is.
    func isClearing(_ origin: Origin) -> Bool { stopping.contains { origins[$0] == origin } }

    /// Whether a download of this priority may begin. The last place is for what is visible.
    func hasRoom(_ origin: Origin, for priority: Priority) -> Bool {
        let limit = limit(of: origin)
        return used[origin, default: 0] < (priority == .visible ? limit : max(1, limit - 1))
    }

    /// How many more downloads there are than the host has places.
    func excess(_ origin: Origin) -> Int { used[origin, default: 0] - limit(of: origin) }

    private func limit(of origin: Origin) -> Int {
        multiplexed.contains(origin) ? max(limit, Self.streamLimit) : limit
    }

    /// A download begins.
    mutating func take(_ origin: Origin, _ id: FlightID) {
        used[origin, default: 0] += 1
        origins[id] = origin
    }

    /// A download was told to stop. It has its place until it does.
    mutating func stops(_ id: FlightID) {
        if origins[id] != nil { stopping.insert(id) }
    }

    /// A download is over, however it ended; its host.
    mutating func release(_ id: FlightID) -> Origin {
        stopping.remove(id)
        guard let origin = origins.removeValue(forKey: id) else {
            preconditionFailure("download \(id.rawValue) ended twice")
        }
        let rest = used[origin, default: 1] - 1
        used[origin] = rest == 0 ? nil : rest
        return origin
    }

    /// The host of a download answered; the host, if that allows for more downloads than before.
    mutating func answered(_ id: FlightID, isMultiplexed: Bool) -> Origin? {
        guard let origin = origins[id] else { return nil }
        guard isMultiplexed else {
            multiplexed.remove(origin)
            return nil
        }
        guard !multiplexed.contains(origin) else { return nil }
        if multiplexed.count >= Self.memory { multiplexed.removeAll() }
        multiplexed.insert(origin)
        return origin
    }
}

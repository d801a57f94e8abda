internal import CacheKey

/// Who downloads at the moment: how many there are in all, and how many each server has to bear.
///
/// libcurl can limit connections to a host itself, but what waits inside it is woken one at a time and
/// sometimes not at all (7.88), and would hold a transfer's place meanwhile.
struct TransferSlots: ~Copyable, Sendable {
    /// Downloads at once, at most.
    var limit: Int
    /// Downloads from one host at once, at most, where each takes a connection.
    let hostLimit: Int

    /// Streams on the one connection to a host that speaks HTTP/2: what servers are advised to allow at
    /// least (RFC 9113 §6.5.2).
    static let streamLimit = 100
    /// Hosts remembered to speak HTTP/2.
    private static let memory = 4096

    private var all = ConcurrencyUsage()
    private var hosts: [Origin: ConcurrencyUsage] = [:]
    /// Downloads under way, and the lines in whose turn they began.
    private var taken: [FlightID: TransferQueue.FlowKey] = [:]
    /// Downloads that were told to stop and have not yet.
    private var stopping: Set<FlightID> = []
    /// Hosts whose last answer came by HTTP/2.
    private var multiplexed: Set<Origin> = []

    init(limit: Int, hostLimit: Int) {
        self.limit = limit
        self.hostLimit = hostLimit
    }

    /// Downloads under way.
    var running: Int { all.count }

    /// How many more downloads there are than places.
    var excess: Int { running - limit }

    /// How many more downloads there are than the host has places.
    func excess(_ origin: Origin) -> Int { (hosts[origin]?.count ?? 0) - places(at: origin).count }

    /// Whether a place is about to become free.
    var isClearing: Bool { !stopping.isEmpty }

    /// Whether a place at this host is.
    func isClearing(_ origin: Origin) -> Bool { stopping.contains { taken[$0]?.origin == origin } }

    // MARK: Who may begin

    /// Whether a download of this priority may begin, were it for some client.
    func hasRoom(for priority: Priority) -> Bool { all.hasRoom(for: priority, of: .inAll(limit)) }

    func hasRoom(for priority: Priority, at origin: Origin) -> Bool {
        occupancy(of: origin).hasRoom(for: priority, of: places(at: origin))
    }

    /// Whether one may begin for this client, as far as it is not for its host.
    func admits(_ client: ClientID, _ priority: Priority) -> Bool {
        all.admits(client, priority, to: .inAll(limit))
    }

    func admits(_ client: ClientID, _ priority: Priority, at origin: Origin) -> Bool {
        occupancy(of: origin).admits(client, priority, to: places(at: origin))
    }

    /// Whether a client has nothing under way that is more than a prefetch: if it may not begin, nobody may.
    func isNew(_ client: ClientID) -> Bool { all.isNew(client) }

    /// Whether one that is visible may begin for this client once a prefetch has made room.
    func mayPress(_ client: ClientID) -> Bool { all.mayPress(client, .inAll(limit)) }

    func mayPress(_ client: ClientID, at origin: Origin) -> Bool {
        occupancy(of: origin).mayPress(client, places(at: origin))
    }

    private func occupancy(of origin: Origin) -> ConcurrencyUsage {
        hosts[origin] ?? ConcurrencyUsage()
    }

    private func places(at origin: Origin) -> ConcurrencyLimit {
        .atHost(multiplexed.contains(origin) ? max(hostLimit, Self.streamLimit) : hostLimit)
    }

    // MARK: What happens

    /// A download begins, in the turn of a line.
    mutating func take(_ id: FlightID, _ lane: TransferQueue.FlowKey) {
        all.add(lane.client, lane.priority)
        hosts.update(lane.origin, default: ConcurrencyUsage()) {
            $0.add(lane.client, lane.priority)
        }
        taken[id] = lane
    }

    /// A download was told to stop. It has its place until it does.
    mutating func stops(_ id: FlightID) {
        if taken[id] != nil { stopping.insert(id) }
    }

    /// A download is over, however it ended; its host.
    mutating func release(_ id: FlightID) -> Origin {
        stopping.remove(id)
        guard let gone = taken.removeValue(forKey: id) else {
            preconditionFailure("download \(id.rawValue) ended twice")
        }
        all.remove(gone.client, gone.priority)
        let left = hosts.update(gone.origin) { host in
            host.remove(gone.client, gone.priority)
            return host.count
        }
        if left == 0 { hosts[gone.origin] = nil }
        return gone.origin
    }

    /// The host of a download answered; the host, if that allows for more downloads than before.
    mutating func answered(_ id: FlightID, isMultiplexed: Bool) -> Origin? {
        guard let origin = taken[id]?.origin else { return nil }
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

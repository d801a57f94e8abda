internal import CacheKey

/// Which downloads run: how many in all, and how many from each host.
///
/// libcurl can limit connections to a host itself, but wakes what waits inside it one at a time and
/// sometimes not at all (7.88), and such a transfer would occupy a slot meanwhile.
struct TransferSlots: ~Copyable, Sendable {
    /// Downloads at once, at most.
    var limit: Int
    /// Downloads from one host at once, at most, if each takes a connection.
    let hostLimit: Int

    /// Streams on the one connection to a host that speaks HTTP/2: servers are advised to allow at least
    /// so many (RFC 9113 §6.5.2).
    static let streamLimit = 100
    /// Hosts remembered to speak HTTP/2.
    private static let rememberedHosts = 4096

    private var all = ConcurrencyUsage()
    private var hosts: [Origin: ConcurrencyUsage] = [:]
    /// Downloads that run, and the flows in whose turn they started.
    private var taken: [FlightID: FlowKey] = [:]
    /// Downloads that were told to stop and have not yet.
    private var stopping: Set<FlightID> = []
    /// Hosts whose last response came by HTTP/2.
    private var multiplexed: Set<Origin> = []

    init(limit: Int, hostLimit: Int) {
        self.limit = limit
        self.hostLimit = hostLimit
    }

    /// Downloads that run.
    var running: Int { all.count }

    /// Whether a slot is about to become free.
    var isClearing: Bool { !stopping.isEmpty }

    /// The same for a slot of this host.
    func isClearing(_ origin: Origin) -> Bool { stopping.contains { taken[$0]?.origin == origin } }

    // MARK: What may start

    /// Whether a download of this priority could start, for a suitable client.
    func hasSlot(for priority: Priority) -> Bool { all.hasSlot(for: priority, of: overall) }

    func hasSlot(for priority: Priority, at origin: Origin) -> Bool {
        usage(of: origin).hasSlot(for: priority, of: limit(of: origin))
    }

    /// Whether a download of this client could start, hosts left out of account.
    func admits(_ client: ClientID, _ priority: Priority) -> Bool {
        all.admits(client, priority, to: overall)
    }

    func admits(_ client: ClientID, _ priority: Priority, at origin: Origin) -> Bool {
        usage(of: origin).admits(client, priority, to: limit(of: origin))
    }

    /// Whether a client has nothing but prefetches running.
    func isNew(_ client: ClientID) -> Bool { all.isNew(client) }

    /// How many prefetches have to stop before a visible download of this client can start.
    func excess(for client: ClientID) -> Int { all.excess(for: client, of: overall) }

    /// The same for the slots of this host.
    func excess(for client: ClientID, at origin: Origin) -> Int {
        usage(of: origin).excess(for: client, of: limit(of: origin))
    }

    private var overall: ConcurrencyLimit { ConcurrencyLimit(count: limit) }

    private func usage(of origin: Origin) -> ConcurrencyUsage {
        hosts[origin] ?? ConcurrencyUsage()
    }

    private func limit(of origin: Origin) -> ConcurrencyLimit {
        ConcurrencyLimit(
            count: multiplexed.contains(origin) ? max(hostLimit, Self.streamLimit) : hostLimit)
    }

    // MARK: What happens

    /// A download starts, in the turn of a flow.
    mutating func take(_ id: FlightID, _ flow: FlowKey) {
        all.add(flow.client, flow.priority)
        hosts.update(flow.origin, default: ConcurrencyUsage()) {
            $0.add(flow.client, flow.priority)
        }
        taken[id] = flow
    }

    /// A download was told to stop. It has its slot until it does.
    mutating func stops(_ id: FlightID) {
        if taken[id] != nil { stopping.insert(id) }
    }

    /// A download is over, however it ended; its host.
    mutating func release(_ id: FlightID) -> Origin {
        stopping.remove(id)
        guard let flow = taken.removeValue(forKey: id) else {
            preconditionFailure("download \(id.rawValue) ended twice")
        }
        all.remove(flow.client, flow.priority)
        let left = hosts.update(flow.origin) { host in
            host.remove(flow.client, flow.priority)
            return host.count
        }
        if left == 0 { hosts[flow.origin] = nil }
        return flow.origin
    }

    /// The host of a download answered; the host, if that raises its limit.
    mutating func answered(_ id: FlightID, isMultiplexed: Bool) -> Origin? {
        guard let origin = taken[id]?.origin else { return nil }
        guard isMultiplexed else {
            multiplexed.remove(origin)
            return nil
        }
        guard !multiplexed.contains(origin) else { return nil }
        if multiplexed.count >= Self.rememberedHosts { multiplexed.removeAll() }
        multiplexed.insert(origin)
        return origin
    }
}

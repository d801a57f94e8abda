internal import CacheKey

/// The running downloads: their number overall and for each host.
///
/// libcurl can limit connections to a host itself, but it wakes transfers that wait inside it one
/// at a time and sometimes not at all (7.88). Such a transfer would occupy a slot while it waits.
struct TransferSlots: ~Copyable, Sendable {
    /// The maximum number of downloads at once.
    var limit: Int
    /// The maximum number of downloads from one host at once, if each takes a connection of its own.
    var hostLimit: Int

    /// Streams on the one connection to a host that speaks HTTP/2. RFC 9113 §6.5.2 advises servers
    /// to allow at least this number.
    static let streamLimit = 100
    /// The maximum number of hosts remembered as speaking HTTP/2.
    private static let rememberedHosts = 4096

    private var all = ConcurrencyUsage()
    private var hosts: [Origin: ConcurrencyUsage] = [:]
    /// A running download, and the flow through which it got its slot.
    struct Transfer: Sendable {
        let key: CacheKey
        var flow: FlowKey
    }

    private(set) var taken: [FlightID: Transfer] = [:]
    /// Downloads that are stopping and have not stopped yet.
    private(set) var stopping: Set<FlightID> = []
    private(set) var abandonedLookups = AbandonedLookups()
    /// Hosts whose last response came by HTTP/2.
    private var multiplexed: Set<Origin> = []
    var names = ServerNames()
    /// Hosts that refused requests.
    private(set) var pauses = HostPauses()

    init(limit: Int, hostLimit: Int) {
        self.limit = limit
        self.hostLimit = hostLimit
    }

    /// The number of running downloads.
    var running: Int { all.count }

    /// The running downloads of each user who has any.
    var runningByUser: [UserID: Int] { all.byUser }

    /// Whether a slot is about to become free.
    var isClearing: Bool { !stopping.isEmpty }

    /// Whether a slot of this host is about to become free.
    func isClearing(_ origin: Origin) -> Bool {
        stopping.contains { taken[$0]?.flow.origin == origin }
    }

    // MARK: Free slots

    /// Whether a download of this priority could start, if its client is admitted.
    func hasSlot(for priority: Priority) -> Bool { all.hasSlot(for: priority, of: overall) }

    func hasSlot(for priority: Priority, at origin: Origin) -> Bool {
        usage(of: origin).hasSlot(for: priority, of: limit(of: origin))
    }

    /// Whether a download of this client could start, without regard to the limits of hosts.
    func admits(_ client: ClientID, _ priority: Priority) -> Bool {
        all.admits(client, priority, to: overall)
    }

    func admits(_ client: ClientID, _ priority: Priority, at origin: Origin) -> Bool {
        usage(of: origin).admits(client, priority, to: limit(of: origin))
    }

    /// Whether a client has no running downloads except prefetches.
    func hasNothingRunning(_ client: ClientID) -> Bool { all.hasNothingRunning(client) }

    /// Whether a user may have another download, without regard to free slots.
    func permitAnother(for user: UserID) -> Bool {
        abandonedLookups.permitAnother(for: user, running: all(user), slots: limit)
    }

    /// The number of running downloads of a user, without prefetches.
    func active(_ user: UserID) -> Int { all.active(user) }

    /// The number of running downloads of a user.
    func all(_ user: UserID) -> Int { all.all(user) }

    /// The use of all slots, or of those of a host.
    func usage(at origin: Origin?) -> ConcurrencyUsage { origin.map { usage(of: $0) } ?? all }

    /// The hosts that have downloads running.
    var busyOrigins: some Collection<Origin> { hosts.keys }

    /// Whether all slots that are not reserved are taken, those of all hosts or those of this one. A host that asked for
    /// a pause is not crowded.
    func isCrowded(at origin: Origin?) -> Bool {
        guard let origin else { return all.count >= overall.shared }
        guard pauses.limit(of: origin) == nil else { return false }
        return usage(of: origin).count >= limit(of: origin).shared
    }

    /// Whether a user other than this one has downloads running.
    func isUsed(besides user: UserID) -> Bool { all.isUsed(besides: user) }

    /// The number of prefetches that have to stop before a visible download of this client can start.
    func excess(for client: ClientID) -> Int { all.excess(for: client, of: overall) }

    /// The number of prefetches from this host that have to stop before the host has a slot for
    /// this client.
    func excess(for client: ClientID, at origin: Origin) -> Int {
        usage(of: origin).excess(for: client, of: limit(of: origin))
    }

    private var overall: ConcurrencyLimit { ConcurrencyLimit(count: limit) }

    private func usage(of origin: Origin) -> ConcurrencyUsage {
        hosts[origin] ?? ConcurrencyUsage()
    }

    private func limit(of origin: Origin) -> ConcurrencyLimit {
        let usual = usualLimit(of: origin)
        guard let limit = pauses.limit(of: origin) else { return ConcurrencyLimit(count: usual) }
        return .temporary(min(limit, usual))
    }

    private func usualLimit(of origin: Origin) -> Int {
        multiplexed.contains(origin) ? max(hostLimit, Self.streamLimit) : hostLimit
    }

    // MARK: Events

    /// A download starts because its flow has its turn.
    mutating func take(_ id: FlightID, _ key: CacheKey, _ flow: FlowKey) {
        all.add(flow.client, flow.priority)
        hosts.update(flow.origin, default: ConcurrencyUsage()) {
            $0.add(flow.client, flow.priority)
        }
        taken[id] = Transfer(key: key, flow: flow)
    }

    /// A download is stopping. It keeps its slot until it has stopped.
    mutating func stops(_ id: FlightID) {
        if taken[id] != nil { stopping.insert(id) }
    }

    /// A stopping download has only its name lookup left. Returns its host.
    mutating func abandon(_ id: FlightID) -> Origin {
        if let user = taken[id]?.flow.client.user { abandonedLookups.add(id, of: user) }
        return release(id)
    }

    /// The lookup that a download left behind has ended.
    mutating func lookupEnded(_ id: FlightID) { abandonedLookups.ended(id) }

    /// A download has ended, by success, failure or cancellation. Returns its host.
    mutating func release(_ id: FlightID) -> Origin {
        stopping.remove(id)
        guard let flow = taken.removeValue(forKey: id)?.flow else {
            preconditionFailure("download \(id.rawValue) ended twice")
        }
        all.remove(flow.client, flow.priority)
        releaseHost(of: flow)
        return flow.origin
    }

    private mutating func releaseHost(of flow: FlowKey) {
        let left = hosts.update(flow.origin) { host in
            host.remove(flow.client, flow.priority)
            return host.count
        }
        if left == 0 { hosts[flow.origin] = nil }
    }

    /// A running download counts for another host from now on. Returns its former host. `nil` if the other host has no
    /// slot for it.
    mutating func moves(_ id: FlightID, to origin: Origin) -> Origin? {
        guard let former = taken[id]?.flow,
            admits(former.client, former.priority, at: origin)
        else { return nil }
        let flow = FlowKey(priority: former.priority, client: former.client, origin: origin)
        releaseHost(of: former)
        hosts.update(origin, default: ConcurrencyUsage()) { $0.add(flow.client, flow.priority) }
        taken[id]?.flow = flow
        return former.origin
    }

    /// A host refused a download that has just ended. Returns other hosts that may have more downloads now.
    mutating func refused(
        _ origin: Origin, _ refusal: Failure, until end: ContinuousClock.Instant
    ) -> [Origin] {
        pauses.refused(origin, refusal, until: end, running: usage(of: origin).count + 1)
    }

    /// A host answered without a refusal. Returns whether it may have more downloads now.
    mutating func accepted(_ origin: Origin) -> Bool {
        pauses.accepted(origin, usual: usualLimit(of: origin))
    }

    /// Time has passed. Returns the hosts that may be asked again.
    mutating func takeEndedPauses(now: ContinuousClock.Instant) -> [Origin] {
        pauses.takeEnded(now: now)
    }

    /// The host of a download answered. Returns the host if the answer raises its limit.
    mutating func answered(_ id: FlightID, isMultiplexed: Bool) -> Origin? {
        guard let origin = taken[id]?.flow.origin else { return nil }
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

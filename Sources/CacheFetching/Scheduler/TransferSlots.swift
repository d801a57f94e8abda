internal import CacheKey
import CacheValues

/// The running downloads: their number overall and for each origin.
///
/// libcurl can limit connections to an origin itself, but it wakes transfers that wait inside it one
/// at a time and sometimes not at all (7.88). Such a transfer would occupy a slot while it waits.
struct TransferSlots: ~Copyable, Sendable {
    /// The maximum number of downloads at once.
    var limit: Int
    /// The maximum number of connections to an origin, and so of downloads if each takes one of its own.
    var originLimit: Int

    /// Whether prefetches may start.
    var permitsPrefetches = true

    /// Streams on the one connection to an origin that speaks HTTP/2. RFC 9113 §6.5.2 advises servers
    /// to allow at least this number.
    static let streamLimit = 100
    /// The maximum number of origins remembered as speaking HTTP/2.
    private static let rememberedOrigins = 4096

    private var all = ConcurrencyUsage()
    private var origins: [Origin: ConcurrencyUsage] = [:]
    /// The running downloads of each user.
    private(set) var users = Tally<UserID>()
    /// A running download, and the flow through which it got its slot.
    struct Transfer: Sendable {
        let key: CacheKey
        let flow: FlowKey
    }

    private(set) var taken: [FlightID: Transfer] = [:]
    /// Downloads that are stopping and have not stopped yet.
    private(set) var stopping: Set<FlightID> = []
    /// Running downloads that may be prefetches.
    private(set) var prefetches: Set<FlightID> = []
    private(set) var abandonedLookups = AbandonedLookups()
    /// The maximum number of downloads from each origin whose last response came by HTTP/2. A server may permit fewer than
    /// ``streamLimit`` on a connection.
    private var multiplexed: [Origin: Int] = [:]
    /// Origins that refused requests.
    private(set) var pauses = OriginPauses()
    var pace = TransferPace()

    init(limit: Int, originLimit: Int) {
        self.limit = limit
        self.originLimit = originLimit
    }

    /// The number of running downloads.
    var running: Int { all.count }

    // MARK: Free slots

    var hasSlot: Bool { all.count < limit }

    func hasSlot(at origin: Origin) -> Bool { free(at: origin) > 0 }

    /// The number of further downloads that an origin can have, without regard to the limit of all.
    func free(at origin: Origin) -> Int {
        let usual = usualLimit(of: origin)
        let limit = pauses.limit(of: origin).map { min($0, usual) } ?? usual
        return max(0, limit - (origins[origin]?.count ?? 0))
    }

    private func usualLimit(of origin: Origin) -> Int {
        max(originLimit, multiplexed[origin] ?? 0)
    }

    /// The use of all slots, or of those of an origin.
    func usage(at origin: Origin?) -> ConcurrencyUsage {
        origin.map { origins[$0] ?? ConcurrencyUsage() } ?? all
    }

    /// The number of a user's running downloads, in all or from an origin, without prefetches.
    func active(_ user: UserID, at origin: Origin?) -> Int { usage(at: origin).active(user) }

    /// Clients that have nothing running come first, and last among these the ones that gave way lately.
    func rank(of client: ClientID, at origin: Origin?) -> Int {
        if usage(at: origin).active(client) > 0 { return 2 }
        return pace.isPatient(client) ? 1 : 0
    }

    /// Whether a user may have another download, without regard to free slots.
    func permitAnother(for user: UserID) -> Bool {
        abandonedLookups.permitAnother(for: user, running: users[user], slots: limit)
    }

    // MARK: Slots that change hands

    /// Whether a slot that serves an origin, or any slot, is about to become free.
    func isClearing(_ origin: Origin?) -> Bool {
        guard let origin else { return !stopping.isEmpty }
        return stopping.contains { taken[$0]?.flow.origin == origin }
    }

    /// The running download that has to stop so that one of this flow can start, if one has to. Its slot is one of all
    /// slots, or one of those of an origin.
    ///
    /// Prefetches stop for everything else. A download stops for a user who has nothing running, or for such a client
    /// of the same user, if its own user or client has several. One that is slow stops even for those who have fewer.
    ///
    /// - Parameter cost: the cost of stopping a download for this flow. `nil` if it must not stop.
    func nextToGiveWay(
        to flow: FlowKey, at origin: Origin?, cost: (CacheKey, FlightID) -> StopCost?
    ) -> FlightID? {
        let usage = usage(at: origin)
        let hasNothing = usage.active(flow.client) == 0 || usage.active(flow.client.user) == 0
        guard hasNothing || !prefetches.isEmpty || pace.isAnySlow else { return nil }
        var best: (id: FlightID, rank: (Int, Int, StopCost))?
        for (id, transfer) in taken where !stopping.contains(id) {
            guard origin == nil || transfer.flow.origin == origin,
                let cost = cost(transfer.key, id)
            else { continue }
            let (has, other) = usage.compare(flow.client, transfer.flow.client)
            let isSlow = pace.isSlow(id)
            let givesWay =
                has == 0 && other > 1
                || isSlow && (has + 1 < other || has == 0 && !pace.isPatient(flow.client))
            guard cost.isPrefetch || givesWay && transfer.flow.client != flow.client
            else { continue }
            let rank = (cost.isPrefetch ? 0 : isSlow ? 1 : 2, -other, cost)
            if best.map({ rank < $0.rank }) ?? true { best = (id, rank) }
        }
        return best?.id
    }

    /// The cost of stopping a download: a prefetch costs less than any other, and the fewer bytes it has received, the
    /// less it costs. Of two equal costs, that of the later download is lower.
    struct StopCost: Comparable {
        let isPrefetch: Bool
        let received: Int64
        let id: FlightID

        static func < (left: Self, right: Self) -> Bool {
            (left.received, right.id.rawValue) < (right.received, left.id.rawValue)
        }
    }

    // MARK: Events

    /// A download starts because its flow has its turn.
    mutating func take(_ id: FlightID, _ key: CacheKey, _ flow: FlowKey) {
        all.add(flow)
        users.add(to: flow.client.user)
        origins.update(flow.origin, default: ConcurrencyUsage()) { $0.add(flow) }
        taken[id] = Transfer(key: key, flow: flow)
    }

    /// A running download may be only a prefetch.
    mutating func mayBePrefetch(_ id: FlightID) { prefetches.insert(id) }

    /// A download is stopping. It keeps its slot until it has stopped.
    mutating func stops(_ id: FlightID) {
        if taken[id] != nil { stopping.insert(id) }
    }

    /// A stopping download has only its name lookup left. Returns its origin.
    mutating func abandon(_ id: FlightID) -> Origin {
        if let user = taken[id]?.flow.client.user { abandonedLookups.add(id, of: user) }
        return release(id)
    }

    /// The lookup that a download left behind has ended.
    mutating func lookupEnded(_ id: FlightID) { abandonedLookups.ended(id) }

    /// A download has ended, by success, failure or cancellation. Returns its origin.
    mutating func release(_ id: FlightID) -> Origin {
        stopping.remove(id)
        prefetches.remove(id)
        pace.forget(id)
        guard let flow = taken.removeValue(forKey: id)?.flow else {
            preconditionFailure("download \(id.rawValue) ended twice")
        }
        all.remove(flow)
        users.remove(from: flow.client.user)
        let left = origins.update(flow.origin) { origin in
            origin.remove(flow)
            return origin.count
        }
        if left == 0 { origins[flow.origin] = nil }
        return flow.origin
    }

    /// An origin refused a download that has just ended. Returns other origins that may have more downloads now.
    mutating func refused(
        _ origin: Origin, _ refusal: Failure, until end: ContinuousClock.Instant
    ) -> [Origin] {
        pauses.refused(origin, refusal, until: end, running: usage(at: origin).count + 1)
    }

    /// An origin answered without a refusal. Returns whether it may have more downloads now.
    mutating func accepted(_ origin: Origin) -> Bool {
        pauses.accepted(origin, usual: usualLimit(of: origin))
    }

    /// Time has passed. Returns the origins that may be asked again.
    mutating func takeEndedPauses(now: ContinuousClock.Instant) -> [Origin] {
        pauses.takeEnded(now: now)
    }

    /// The origin of a download answered. Returns the origin if the answer raises its limit.
    mutating func answered(_ id: FlightID, isMultiplexed: Bool) -> Origin? {
        guard let origin = taken[id]?.flow.origin else { return nil }
        guard isMultiplexed else {
            multiplexed[origin] = nil
            return nil
        }
        guard multiplexed[origin] == nil else { return nil }
        if multiplexed.count >= Self.rememberedOrigins { multiplexed.removeAll() }
        multiplexed[origin] = Self.streamLimit
        return origin
    }

    /// The connections to an origin carry no more downloads than those that run now.
    mutating func crowded(_ origin: Origin) {
        if multiplexed[origin] != nil { multiplexed[origin] = usage(at: origin).count }
    }
}

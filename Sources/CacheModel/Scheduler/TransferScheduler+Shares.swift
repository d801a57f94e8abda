internal import CacheKey

/// The shares of users: which downloads give their slots to users who have fewer.
///
/// A user who has nothing running gets a slot at once, if another user has several. Beyond that a
/// download gives up its slot only if it does not earn it, as ``TransferPace`` measures: so slots
/// that are used well change hands when their downloads end. A download that stops keeps its
/// partial, and is queued again.
extension TransferScheduler {
    /// The slots of all hosts (`nil`), or those of one.
    private typealias Place = Origin?

    /// A download that has to stop at once, for a user who has nothing running.
    ///
    /// - Parameter cost: the cost of stopping a download for a user. `nil` if it cannot stop for that user.
    mutating func nextToYield(cost: (CacheKey, FlightID, UserID) -> Preemption.Cost?) -> CacheKey? {
        let newcomers = queue.waitingUsers(slots).filter {
            slots.active($0) == 0 && slots.isUsed(besides: $0)
        }
        // Each slot that is about to become free serves one of them.
        guard slots.stopping.count < newcomers.count else { return nil }
        for user in newcomers {
            for place in crowdedPlaces(for: user) {
                let victim = victim(for: user, at: place) { cost($0, $1, user) }
                if let victim { return victim }
            }
        }
        return nil
    }

    /// A download of another user who has several: a prefetch if there is one, otherwise of the user who has most.
    private func victim(
        for user: UserID, at place: Place, cost: (CacheKey, FlightID) -> Preemption.Cost?
    ) -> CacheKey? {
        let usage = slots.usage(at: place)
        var least: (key: CacheKey, rank: (Int, Int, Preemption.Cost))?
        for (id, transfer) in transfers(at: place) {
            let owner = transfer.flow.client.user
            guard owner != user, usage.all(owner) > 1, let cost = cost(transfer.key, id) else {
                continue
            }
            let rank = (cost.isPrefetch ? 0 : 1, -usage.all(owner), cost)
            guard let other = least, other.rank <= rank else {
                least = (transfer.key, rank)
                continue
            }
        }
        return least?.key
    }

    /// Time has passed. Returns the downloads that have to stop because they do not earn their slots, and others wait
    /// who have fewer.
    ///
    /// - Parameters:
    ///   - isSpaceShort: whether downloads also wait because others hold the space on the disk.
    ///   - received: the bytes that a download has received. `nil` if it is over.
    ///   - isWanted: whether a user waits for a download.
    mutating func unearned(
        now: ContinuousClock.Instant, isSpaceShort: Bool, received: (CacheKey, FlightID) -> Int64?,
        isWanted: (CacheKey, UserID) -> Bool
    ) -> [(key: CacheKey, id: FlightID)] {
        guard !queue.isEmpty else {
            pace.reset()
            return []
        }
        for (id, transfer) in slots.taken {
            guard let bytes = received(transfer.key, id) else { continue }
            pace.measure(id, received: bytes, now: now)
        }
        var ending: Set<FlightID> = []
        for user in queue.waitingUsers(slots) {
            var rest = queue.count(of: user)
            for place in crowdedPlaces(for: user, isSpaceShort: isSpaceShort) {
                var sharing = Sharing(usage: slots.usage(at: place), user: user)
                for (id, transfer) in unearned(at: place) where rest > 0 && !ending.contains(id) {
                    let isOwn = transfer.flow.client.user == user
                    guard isOwn || !isWanted(transfer.key, user) else { continue }
                    guard
                        let gains = sharing.gains(
                            transfer.flow.client, hadItsTime: pace.hadItsTime(id))
                    else { continue }
                    if gains == .ofClient {
                        let other = queue.firstClient(of: user, at: place) {
                            sharing.usage.active($0) == 0
                        }
                        guard other != nil, !sharing.hasClientGained else { continue }
                    }
                    sharing.yields(transfer.flow.client, gains)
                    ending.insert(id)
                    rest -= 1
                }
            }
        }
        return ending.compactMap { id in slots.taken[id].map { ($0.key, id) } }
    }

    /// Where a user waits for a slot.
    private mutating func crowdedPlaces(for user: UserID, isSpaceShort: Bool = false) -> [Place] {
        var places: [Place] = slots.busyOrigins.filter {
            slots.isCrowded(at: $0) && queue.waits(user, at: $0)
        }
        if slots.isCrowded(at: nil) || isSpaceShort, queue.waitsForAnySlot(user, slots) {
            places.insert(nil, at: 0)
        }
        return places
    }

    private func transfers(at place: Place) -> [(FlightID, TransferSlots.Transfer)] {
        slots.taken.filter { id, transfer in
            !slots.stopping.contains(id) && (place == nil || transfer.flow.origin == place)
        }.map { ($0.key, $0.value) }
    }

    /// The downloads that do not earn their slots, the earliest first.
    private func unearned(at place: Place) -> [(FlightID, TransferSlots.Transfer)] {
        transfers(at: place).filter { id, _ in pace.isSlow(id) || pace.hadItsTime(id) }
            .sorted { $0.0.rawValue < $1.0.rawValue }
    }
}

/// The slots that a user has and gains from others.
private struct Sharing {
    let usage: ConcurrencyUsage
    let user: UserID
    private var gained = 0
    private var lost: [UserID: Int] = [:]
    /// Whether a client gained a slot from another client of the same user. One at a time is enough.
    private(set) var hasClientGained = false

    init(usage: ConcurrencyUsage, user: UserID) { (self.usage, self.user) = (usage, user) }

    enum Gain { case ofUser, ofClient }

    /// How a slot that this client does not earn is better used. `nil` if it is not.
    func gains(_ client: ClientID, hadItsTime: Bool) -> Gain? {
        guard client.user != user else {
            return usage.active(client) > 1 || hadItsTime ? .ofClient : nil
        }
        let own = usage.active(user) + gained
        let others = usage.all(client.user) - lost[client.user, default: 0]
        return own + 1 < others || own == 0 && hadItsTime ? .ofUser : nil
    }

    mutating func yields(_ client: ClientID, _ gain: Gain) {
        switch gain {
        case .ofUser:
            gained += 1
            lost[client.user, default: 0] += 1
        case .ofClient: hasClientGained = true
        }
    }
}

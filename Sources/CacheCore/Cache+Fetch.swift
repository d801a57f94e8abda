public import CacheKey

/// An image somebody wants.
public struct Wish: Sendable {
    public let key: CacheKey
    public let url: CacheURL

    public init(_ url: CacheURL) {
        self.url = url
        key = CacheKey(url)
    }
}

/// Wishes and their ends.
extension Cache {
    /// Joins or starts the downloads of what is not cached. The observer hears once when all of it is
    /// decided, after this has returned or before; ``leave(_:)`` ends the interest early.
    public func fetch(_ wishes: [Wish], _ options: FetchOptions) -> WaiterID {
        let waiter = begin(wishes, options)
        complete(waiter)
        return waiter
    }

    /// The same in two steps, for callers that have to note the interest before its end is told: that
    /// comes after ``complete(_:)``.
    public func begin(_ wishes: [Wish], _ options: FetchOptions) -> WaiterID {
        let waiter = run { state, _ in state.waiterBegan(options) }
        want(wishes, options, by: waiter)
        return waiter
    }

    public func complete(_ waiter: WaiterID) {
        run { $0.waiterNamed(waiter, &$1) }
    }

    /// The same with nobody waiting: the downloads go on whoever leaves. `false`, and none of them begins,
    /// where that may be more than ``detachedLimit``.
    public func prefetch(_ wishes: [Wish], _ options: FetchOptions) -> Bool {
        guard run({ state, _ in state.detachedAnnounced(wishes.count) }) else { return false }
        want(wishes, options, by: nil)
        run { $0.detachedNamed(wishes.count, &$1) }
        return true
    }

    /// Downloads that are held with nobody waiting, at most.
    public var detachedLimit: Int { settings.detachedLimit }

    /// Another is about to take the place of a caller, see ``FetchOptions/predecessor``: its end is not told any
    /// more, and what it has stays known until it leaves.
    public func keep(_ waiter: WaiterID) {
        run { state, _ in state.waiterReplaced(waiter) }
    }

    /// The caller is gone or wants something else. Downloads nobody else waits for stop; their
    /// partials stay.
    public func leave(_ waiter: WaiterID) {
        let keys = run { state, _ in state.waiterLeaves(waiter) }
        for ifQueued in [true, false] {
            var rest = keys[...]
            while !rest.isEmpty {
                let stretch = rest.prefix(Self.stretch)
                rest = rest.dropFirst(stretch.count)
                run { $0.waiterLeft(waiter, stretch, ifQueued: ifQueued, &$1) }
            }
        }
        run { $0.waiterGone(waiter, &$1) }
    }

    /// Wishes taken in under one hold of the lock. Each is as dear as fifty questions, and the downloads that
    /// are under way want the lock too.
    private static let wishStretch = 32

    private func want(_ wishes: [Wish], _ options: FetchOptions, by waiter: WaiterID?) {
        guard directory.isInPlace else { return refuse(wishes, by: waiter) }
        let now = FileTime.now
        var rest = wishes[...]
        while !rest.isEmpty {
            let stretch = rest.prefix(Self.wishStretch)
            rest = rest.dropFirst(stretch.count)
            // Looking also makes the index right about names that changed.
            let answers = lookup(stretch.map(\.key))
            let stale = zip(stretch, answers).map {
                staleness(of: $0.key, $1, options, now.wallTime)
            }
            run { state, effects in
                for (wish, stale) in zip(stretch, stale) {
                    state.requested(
                        wish.key, wish.url, by: waiter, options, stale: stale, now: now, &effects)
                }
            }
        }
    }

    /// What would be downloaded now would lie where nobody finds it.
    private func refuse(_ wishes: [Wish], by waiter: WaiterID?) {
        guard let waiter else { return }
        run { state, _ in state.refused(wishes.map(\.key), by: waiter, directory.lost) }
    }

    /// What may be done with an entry that is no longer fresh; its file says. `nil` for any other, and
    /// where it does not matter.
    private func staleness(
        of key: CacheKey, _ answer: Lookup, _ options: FetchOptions, _ now: UnixTime
    ) -> Staleness? {
        guard !options.isRefresh, case .cached(let facts, _, _) = answer,
            let end = facts.freshUntil, end <= now || facts.fetchedAt > now,
            let record = record(of: key)
        else { return nil }
        return Staleness(
            reuse: record.reuse(at: now),
            outlivesFailure: record.outlivesFailure(at: now, settings.transfers.caching))
    }

    /// What can't be read is answered like what isn't there.
    func record(of key: CacheKey) -> EntryRecord? {
        do {
            return try directory.record(of: key, name: key.description)
        } catch {
            return nil
        }
    }
}

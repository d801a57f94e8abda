public import CacheFetching
public import CacheKey
import CacheModel
import CacheValues
import HTTPCaching

/// Requests for images.
extension Cache {
    /// Requests images. For each one that is not cached, joins its download or starts one. The observer is
    /// notified once, when all are cached or have failed; this can happen before the call returns.
    /// ``leave(_:)`` withdraws the request.
    public func fetch(_ requests: [ImageRequest], _ options: FetchOptions) -> WaiterID {
        let waiter = begin(requests, options)
        complete(waiter)
        return waiter
    }

    /// Requests images like ``fetch(_:_:)``, but the observer is notified only after ``complete(_:)``. So the
    /// caller can store the waiter before the notification arrives.
    public func begin(_ requests: [ImageRequest], _ options: FetchOptions) -> WaiterID {
        let waiter = run { state, _ in state.fetching.waiterBegan(options) }
        want(requests, options, by: waiter)
        return waiter
    }

    /// Requests images that have just been looked up, if all of them are cached and fresh. Otherwise does nothing, and
    /// returns `false`.
    public func takeHits(_ keys: ArraySlice<CacheKey>) -> Bool {
        run { state, _ in state.fetching.requestedHits(keys, now: .now) }
    }

    /// Whether a request made with ``begin(_:_:)`` waits for no image.
    public func isSettled(_ waiter: WaiterID) -> Bool {
        read { $0.fetching.waiters[waiter]?.pending.isEmpty ?? true }
    }

    /// Allows the notification for a request made with ``begin(_:_:)``.
    public func complete(_ waiter: WaiterID) {
        run { $0.fetching.waiterNamed(waiter, &$1) }
    }

    /// Requests images without a waiter: the downloads continue even if all callers leave. Returns `false` and
    /// starts none of them if there could then be more of these downloads than ``detachedLimit``.
    public func fetchDetached(_ requests: [ImageRequest], _ options: FetchOptions) -> Bool {
        fetchDetached([(requests, options)])
    }

    /// The same for groups of images with options of their own.
    public func fetchDetached(
        _ groups: [(requests: [ImageRequest], options: FetchOptions)]
    ) -> Bool {
        let count = groups.reduce(0) { $0 + $1.requests.count }
        let client = groups.first?.options.client ?? .daemon
        while !run({ state, _ in state.fetching.detachedAnnounced(count, for: client) }) {
            // Clients that are gone take no quota from those that are here.
            guard run({ $0.fetching.departedEnded(of: client.user, &$1) }) else { return false }
        }
        for group in groups { want(group.requests, group.options, by: nil) }
        run { $0.fetching.detachedNamed(count, for: client, &$1) }
        return true
    }

    /// The largest number of downloads that continue without a waiter, for each user.
    public var detachedLimit: Int { settings.detachedLimit }

    /// A client is gone. Its downloads without a waiter continue for a while.
    public func clientLeft(_ client: ClientID) {
        run { state, _ in state.fetching.clientLeft(client, now: .now) }
    }

    /// Announces that another waiter is about to replace this one, see ``FetchOptions/predecessors``, or that it is
    /// about to want other images. The observer is not notified of its end before ``complete(_:)``, and its results
    /// stay known until it leaves. Returns `false` if it has ended already.
    @discardableResult
    public func keep(_ waiter: WaiterID) -> Bool {
        run { state, _ in state.fetching.waiterReplaced(waiter) }
    }

    /// Adds images to those of a waiter that ``keep(_:)`` has announced.
    public func add(_ requests: [ImageRequest], _ options: FetchOptions, to waiter: WaiterID) {
        want(requests, options, by: waiter)
    }

    /// Removes images from those of a waiter that ``keep(_:)`` has announced. A download that no other caller waits
    /// for stops; its partial stays.
    public func drop(_ keys: [CacheKey], from waiter: WaiterID) {
        for stretch in keys.chunks(ofCount: Self.stretch) {
            run { $0.fetching.waiterDropped(waiter, stretch, &$1) }
        }
    }

    /// Whether a waiter waits for an image, or was given it.
    public func has(_ waiter: WaiterID, _ key: CacheKey) -> Bool {
        read {
            $0.fetching.waiters[waiter]?.pending.contains(key) == true
                || $0.fetching.waiters.has(waiter, key)
        }
    }

    /// The outcome of a request with ``FetchOptions/isHeld`` was passed on. Its images are evicted in their turn again.
    public func reported(_ waiter: WaiterID) {
        let keys = run { state, _ in state.fetching.waiterReported(waiter, limit: Self.stretch) }
        for stretch in Array(keys).chunks(ofCount: Self.stretch) {
            run { state, _ in state.fetching.released(stretch) }
        }
    }

    /// Withdraws the request of a caller that is gone or asks for other images now. Downloads that no other
    /// caller waits for stop; their partials stay.
    public func leave(_ waiter: WaiterID) {
        let keys = run { state, _ in state.fetching.waiterBeginsLeaving(waiter) }
        for ifQueued in [true, false] {
            for stretch in keys.chunks(ofCount: Self.stretch) {
                run { $0.fetching.waiterLeft(waiter, stretch, ifQueued: ifQueued, &$1) }
            }
        }
        reported(waiter)
        run { $0.fetching.waiterFinishesLeaving(waiter, &$1) }
    }

    /// Requests that are handled under one hold of the lock. Each takes as long as fifty lookups, and running
    /// downloads need the lock too.
    private static let requestStretch = 32

    func want(_ requests: [ImageRequest], _ options: FetchOptions, by waiter: WaiterID?) {
        guard directory.isInPlace else { return refuse(requests, by: waiter) }
        let now = FileTime.now
        for stretch in requests.chunks(ofCount: Self.requestStretch) {
            // The lookup also brings the index up to date about names that changed.
            let answers = lookupInPlace(stretch.map(\.key))
            let stale = zip(stretch, answers).map {
                staleness(of: $0, $1, options, now.wallTime)
            }
            let lacksFields = zip(stretch, answers).map {
                self.lacksFields($0, $1, options, now.wallTime)
            }
            run { state, effects in
                for ((request, stale), lacksFields) in zip(zip(stretch, stale), lacksFields) {
                    guard !lacksFields else {
                        if let waiter {
                            state.fetching.refused([request.key], by: waiter, .needsFields)
                        }
                        continue
                    }
                    state.fetching.requested(
                        request.key, request.url, by: waiter, options,
                        name: request.name, fields: request.fields, also: request.also,
                        stale: stale, now: now, &effects)
                }
            }
        }
    }

    /// Fails the requests: the path does not lead to the directory, so no client could find the images.
    private func refuse(_ requests: [ImageRequest], by waiter: WaiterID?) {
        guard let waiter else { return }
        run { state, _ in state.fetching.refused(requests.map(\.key), by: waiter, directory.lost) }
    }

    /// How an entry that is no longer fresh may be used, as the record in its file says. `nil` if the entry is
    /// fresh or not cached, or if the request refreshes it anyway. Without the fields of its account, an image that may be
    /// used stale stays as it is: its origin would not confirm it.
    private func staleness(
        of request: ImageRequest, _ answer: Lookup, _ options: FetchOptions, _ now: UnixTime
    ) -> Staleness? {
        guard !options.isRefresh, case .cached(let facts, _, _) = answer,
            facts.isStale(at: now), let record = record(of: request.key)
        else { return nil }
        let isUsable = record.isPersonal && request.fields.isEmpty
        return Staleness(
            reuse: isUsable ? .fresh : record.reuse(at: now),
            allowsStaleIfError: record.allowsStaleIfError(at: now, settings.transfers.caching))
    }

    /// Whether the image of an account has to be confirmed, for which only a call with its header fields can ask.
    private func lacksFields(
        _ request: ImageRequest, _ answer: Lookup, _ options: FetchOptions, _ now: UnixTime
    ) -> Bool {
        guard request.name.account != nil, request.fields.isEmpty,
            case .cached(let facts, _, _) = answer, let record = record(of: request.key),
            record.isPersonal
        else { return false }
        return options.isRefresh || facts.isStale(at: now) && record.terms.mustRevalidate
    }

    /// The record of an entry; `nil` if there is none or it can't be read.
    func record(of key: CacheKey) -> EntryRecord? {
        do {
            return try directory.record(of: key)
        } catch {
            return nil
        }
    }
}

extension Failure {
    fileprivate static let needsFields = Failure(
        .notCached,
        "the image of an account has to be confirmed by its origin; call with the header fields of the account"
    )
}

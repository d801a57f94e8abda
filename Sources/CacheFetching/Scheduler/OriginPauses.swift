import CacheValues

/// Origins that refused requests because there were too many, and the number of downloads each may have now.
///
/// An origin that says stop (429, or 503 with `Retry-After`) is asked nothing until the time it names. Then one
/// download tries alone. Each success lets twice as many run, up to half of those that ran when the origin
/// refused. That ceiling rises by one after every ``raise`` successes, until it is the usual limit.
///
///     refused ──▶ limit 0 ── time ──▶ limit 1 ── success ──▶ 2 ──▶ … ──▶ ceiling ──▶ (no restriction)
///        ▲                                │                    │
///        └──────────── refused ───────────┴────────────────────┘
struct OriginPauses: Sendable {
    private struct Restriction: Sendable {
        /// The end of the pause; `nil` after it.
        var pausedUntil: ContinuousClock.Instant?
        /// The last refusal, with the time of the next attempt.
        var refusal: Failure
        /// The most downloads at once. 0 during the pause.
        var limit = 0
        var ceiling: Int
        /// Refusals in a row, all downloads of one pause counted once.
        var refusals: Int
        /// Successes since the ceiling was last set.
        var successes = 0
    }

    private var restrictions: [Origin: Restriction] = [:]

    /// The number of successes after which one download more may run.
    private static let raise = 16
    /// The maximum number of origins that are remembered after their pause.
    private static let remembered = 1024

    /// The end of the next pause. `nil` if no origin is paused.
    var earliest: ContinuousClock.Instant? {
        restrictions.values.lazy.compactMap(\.pausedUntil).min()
    }

    /// The most downloads that an origin may have at once. `nil` if it has no restriction.
    func limit(of origin: Origin) -> Int? {
        restrictions.isEmpty ? nil : restrictions[origin]?.limit
    }

    /// Why nothing is asked of an origin now. `nil` if the origin is not paused.
    func refusal(of origin: Origin) -> Failure? {
        guard !restrictions.isEmpty, let paused = restrictions[origin], paused.pausedUntil != nil
        else {
            return nil
        }
        return paused.refusal
    }

    /// The number of pauses in a row that did not help.
    func refusals(of origin: Origin) -> Int { restrictions[origin]?.refusals ?? 0 }

    /// Whether the origin has its first download after a pause.
    func isTrying(_ origin: Origin) -> Bool {
        restrictions[origin].map { $0.pausedUntil == nil && $0.limit == 1 } ?? false
    }

    /// An origin refused a request.
    ///
    /// - Parameter running: the number of downloads that the origin had, including the refused one.
    /// - Returns: other origins whose restriction is forgotten, because too many have one.
    mutating func refused(
        _ origin: Origin, _ refusal: Failure, until end: ContinuousClock.Instant, running: Int
    ) -> [Origin] {
        let forgotten = restrictions[origin] == nil ? forgetEnded() : []
        refuse(origin, refusal, until: end, running: running)
        return forgotten
    }

    private mutating func forgetEnded() -> [Origin] {
        guard restrictions.count >= Self.remembered else { return [] }
        let ended = restrictions.filter { $0.value.pausedUntil == nil }.keys
        for origin in ended { restrictions[origin] = nil }
        return Array(ended)
    }

    private mutating func refuse(
        _ origin: Origin, _ refusal: Failure, until end: ContinuousClock.Instant, running: Int
    ) {
        // The other downloads that ran at the same time are refused as well.
        if var paused = restrictions[origin], let known = paused.pausedUntil {
            if end > known { (paused.pausedUntil, paused.refusal) = (end, refusal) }
            restrictions[origin] = paused
            return
        }
        restrictions[origin] = Restriction(
            pausedUntil: end, refusal: refusal, ceiling: max(1, running / 2),
            refusals: refusals(of: origin) + 1)
    }

    /// Time has passed. Returns the origins whose pause has ended.
    mutating func takeEnded(now: ContinuousClock.Instant) -> [Origin] {
        let ended = restrictions.filter { $0.value.pausedUntil.map { $0 <= now } ?? false }.keys
        for origin in ended {
            restrictions.update(origin) { ($0.pausedUntil, $0.limit) = (nil, 1) }
        }
        return Array(ended)
    }

    /// An origin answered a request without a refusal. Returns whether its limit rose.
    ///
    /// - Parameter usual: the limit of an origin without a restriction.
    mutating func accepted(_ origin: Origin, usual: Int) -> Bool {
        guard !restrictions.isEmpty, var paused = restrictions[origin], paused.pausedUntil == nil
        else {
            return false
        }
        paused.refusals = 0
        paused.successes += 1
        let former = paused.limit
        if paused.limit < paused.ceiling {
            paused.limit = min(paused.limit * 2, paused.ceiling)
        } else if paused.successes >= Self.raise {
            paused.ceiling += 1
            (paused.limit, paused.successes) = (paused.ceiling, 0)
        }
        restrictions[origin] = paused.limit < usual ? paused : nil
        return paused.limit > former
    }
}

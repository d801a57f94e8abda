import CacheWire

/// Decides when pressure is answered: at most one reaction to the same pressure in a cool-down.
///
/// Unlinking takes effect at once but the kernel's figures follow slowly; without a cool-down one
/// shortage would empty the cache. Pressure that comes meanwhile waits: when the cool-down is over, it is
/// answered if it still stands. Critical pressure waits for the last critical reaction only, and a
/// person waits for nothing.
struct PressureReactions: Sendable, Hashable {
    typealias Instant = ContinuousClock.Instant

    enum Action: Sendable, Hashable {
        /// Give memory back now.
        case react(PressureLevel)
        /// Say ``PressureReactions/timePassed(now:)`` then; replaces what was said before.
        case wakeAt(Instant)
    }

    /// Pressure that came in a cool-down.
    private struct Waiting: Hashable {
        /// Until when it stands; `nil` if its source never says that it is over.
        var standsUntil: Instant?

        func stands(_ now: Instant) -> Bool {
            standsUntil.map { now <= $0 } ?? true
        }
    }

    let coolDown: Duration
    private var reactedAt: [PressureLevel: Instant] = [:]
    private var waiting: [PressureLevel: Waiting] = [:]

    init(coolDown: Duration) {
        self.coolDown = coolDown
    }

    /// A source reported pressure.
    ///
    /// - Parameter duration: how long the report stands without another one; `nil` for a source that
    ///   reports once and never says that the pressure is over.
    mutating func pressureRose(
        _ level: PressureLevel, standingFor duration: Duration?, now: Instant
    ) -> [Action] {
        if hasCooledDown(level, now: now) { return react(level, now: now) }
        let hasNoEnd = duration == nil || waiting[level].map { $0.standsUntil == nil } == true
        waiting[level] = Waiting(standsUntil: hasNoEnd ? nil : duration.map { now + $0 })
        return nextWake
    }

    /// A person asked, by a signal or a call: never too often.
    mutating func requested(_ level: PressureLevel, now: Instant) -> [Action] {
        react(level, now: now)
    }

    /// The time of the last ``Action/wakeAt(_:)`` has come, or any other.
    mutating func timePassed(now: Instant) -> [Action] {
        for level in waiting.keys.sorted(by: >) where hasCooledDown(level, now: now) {
            let stands = waiting.removeValue(forKey: level)?.stands(now) == true
            if stands { return react(level, now: now) }
        }
        return nextWake
    }

    private mutating func react(_ level: PressureLevel, now: Instant) -> [Action] {
        reactedAt[level] = now
        // What would be answered by less is answered.
        waiting = waiting.filter { $0.key > level }
        return [.react(level)] + nextWake
    }

    private var nextWake: [Action] {
        waiting.keys.compactMap(coolDownEnd).min().map { [.wakeAt($0)] } ?? []
    }

    private func hasCooledDown(_ level: PressureLevel, now: Instant) -> Bool {
        coolDownEnd(level).map { $0 <= now } ?? true
    }

    /// When pressure may be answered again: the reactions that count are those at least as strong.
    private func coolDownEnd(_ level: PressureLevel) -> Instant? {
        reactedAt.filter { $0.key >= level }.values.max().map { $0 + coolDown }
    }
}

import CacheWire

/// Decides when to react to pressure: during a cool-down there is at most one reaction to the same level.
///
/// Unlinking files takes effect at once, but the kernel's pressure values follow slowly. Without a cool-down one
/// shortage would empty the cache. Pressure reported during the cool-down waits; when the cool-down is over,
/// the daemon reacts to it if the report is still valid. Critical pressure waits only for the cool-down of a
/// critical reaction, and the request of a person never waits.
struct PressureReactions: Sendable, Hashable {
    typealias Instant = ContinuousClock.Instant

    enum Action: Sendable, Hashable {
        /// Gives memory back now.
        case react(PressureLevel)
        /// Calls ``PressureReactions/timePassed(now:)`` at that time. It replaces an earlier time.
        case wakeAt(Instant)
    }

    /// Pressure that was reported during a cool-down.
    private struct Waiting: Hashable {
        /// When the report becomes invalid; `nil` if the source never reports that the pressure is over.
        var validUntil: Instant?

        func isValid(_ now: Instant) -> Bool {
            validUntil.map { now <= $0 } ?? true
        }
    }

    /// The shortest time between two reactions to the same level.
    static let usualCoolDown = Duration.seconds(10)

    private let coolDown: Duration
    private var reactedAt: [PressureLevel: Instant] = [:]
    private var waiting: [PressureLevel: Waiting] = [:]

    init(coolDown: Duration) {
        self.coolDown = coolDown
    }

    /// A source has reported pressure.
    ///
    /// - Parameter duration: how long the report is valid without another one; `nil` for a source that reports
    ///   pressure once, and never reports that it is over.
    mutating func pressureRose(
        _ level: PressureLevel, validFor duration: Duration?, now: Instant
    ) -> [Action] {
        if hasCooledDown(level, now: now) { return react(level, now: now) }
        let hasNoEnd = duration == nil || waiting[level].map { $0.validUntil == nil } == true
        waiting[level] = Waiting(validUntil: hasNoEnd ? nil : duration.map { now + $0 })
        return nextWake
    }

    /// A user asked for relief, by a signal or a call. That waits for no cool-down, but it starts one.
    mutating func requested(_ level: PressureLevel, now: Instant) -> [Action] {
        react(level, now: now)
    }

    /// Time has passed, normally until the last ``Action/wakeAt(_:)``.
    mutating func timePassed(now: Instant) -> [Action] {
        for level in waiting.keys.sorted(by: >) where hasCooledDown(level, now: now) {
            let isValid = waiting.removeValue(forKey: level)?.isValid(now) == true
            if isValid { return react(level, now: now) }
        }
        return nextWake
    }

    private mutating func react(_ level: PressureLevel, now: Instant) -> [Action] {
        reactedAt[level] = now
        // This reaction also answers reports of this level and of lower ones.
        waiting = waiting.filter { $0.key > level }
        return [.react(level)] + nextWake
    }

    private var nextWake: [Action] {
        waiting.keys.compactMap(coolDownEnd).min().map { [.wakeAt($0)] } ?? []
    }

    private func hasCooledDown(_ level: PressureLevel, now: Instant) -> Bool {
        coolDownEnd(level).map { $0 <= now } ?? true
    }

    /// When a reaction to this level is allowed again. Only reactions to this level or a worse one count.
    private func coolDownEnd(_ level: PressureLevel) -> Instant? {
        reactedAt.filter { $0.key >= level }.values.max().map { $0 + coolDown }
    }
}

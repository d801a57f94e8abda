import CacheWire

/// The level of memory pressure now, from the reports of the sources and the requests of people.
///
/// A report counts until its validity ends. A source that never reports the end of pressure, and a person, count for
/// as long as the daemon waits between two reactions.
struct PressureState: Sendable, Hashable {
    typealias Instant = ContinuousClock.Instant

    private let usualValidity: Duration
    private var ends: [PressureLevel: Instant] = [:]

    init(usualValidity: Duration) {
        self.usualValidity = usualValidity
    }

    mutating func rose(_ level: PressureLevel, validFor duration: Duration?, now: Instant) {
        let end = now + (duration ?? usualValidity)
        ends[level] = max(ends[level] ?? end, end)
    }

    /// The worst level whose report still counts.
    func level(now: Instant) -> MemoryPressure {
        switch ends.filter({ $0.value > now }).keys.max() {
        case nil: .normal
        case .warning: .warning
        case .critical: .critical
        }
    }

    /// When the level can fall without another report; `nil` while it is normal.
    func nextChange(after now: Instant) -> Instant? {
        ends.values.filter { $0 > now }.min()
    }
}

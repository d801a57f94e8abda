/// How fast the last answers of the store were, and how long the next one may take.
///
/// The time is that of RFC 6298 for packets: the usual time, and four times how much it varies; after a late answer twice
/// as long, since the store may have more to do than before.
package struct StorePace: Sendable {
    /// Both begin with guesses that the first dozen answers correct.
    private var usual = Self.shortest
    private var deviation = Self.shortest
    private var delay = 1
    /// Bytes a second of the last long bodies. `nil` before the first.
    private var rate: Double?

    private static let shortest = Duration.milliseconds(100)
    private static let longestDelay = 16
    /// Bytes a second. A slower body is late, whatever the last ones were like.
    private static let leastRate: Int64 = 256 << 10
    /// Bytes. The time of a shorter body says more about the way than about the rate.
    private static let longBody: Int64 = 64 << 10

    package init() {}

    /// - Parameters:
    ///   - isPatient: whether nobody waits for the image, or nothing is quicker than the store.
    ///   - timeout: the most that the time without bytes can become. A quarter of it is for the bytes of small images.
    package func patience(_ isPatient: Bool = false, atMost timeout: Duration) -> StorePatience {
        let limit = max(usual + deviation * 4, Self.shortest) * delay
        return StorePatience(
            limit: isPatient ? timeout : min(limit, timeout * 3 / 4),
            rate: max(Self.leastRate, rate.map { Int64($0 / 4) } ?? 0))
    }

    /// The store answered in time.
    ///
    /// - Parameters:
    ///   - head: the time from the question to the head.
    ///   - whole: that to the last of `size` bytes of the body.
    package mutating func answered(head: Duration, whole: Duration, size: Int64) {
        let isLong = size >= Self.longBody
        let time = isLong ? head : whole
        deviation = (deviation * 3 + max(usual - time, time - usual)) / 4
        usual = (usual * 7 + time) / 8
        delay = 1
        guard isLong, whole > head else { return }
        let now = Double(size) / ((whole - head) / .seconds(1))
        rate = rate.map { ($0 * 7 + now) / 8 } ?? now
    }

    /// An answer did not come in time.
    package mutating func wasLate() {
        delay = min(delay * 2, Self.longestDelay)
        rate = rate.map { $0 / 2 }
    }
}

/// How long the heads of the last answers took, and how long the next one may take.
package struct StoreLatency: Sendable {
    private var times: [Duration] = []
    private var next = 0
    /// The time that all but one of a hundred answers needed at most.
    private var usualLimit: Duration?

    private static let count = 200
    /// Answers between two computations of the limit.
    private static let interval = 10
    private static let shortestLimit = Duration.milliseconds(100)

    package init() {}

    /// The time for the next answer: four times what nearly all of the last ones needed.
    package func limit(atMost timeout: Duration) -> Duration {
        guard let usualLimit else { return timeout }
        return min(max(Self.shortestLimit, usualLimit * 4), timeout)
    }

    package mutating func add(_ time: Duration) {
        if times.count < Self.count { times.append(time) } else { times[next] = time }
        next = (next + 1) % Self.count
        guard next % Self.interval == 0, times.count >= Self.interval * 2 else { return }
        usualLimit = times.sorted()[times.count * 99 / 100]
    }

    /// The network is another one.
    package mutating func forget() { self = StoreLatency() }
}

import CTestSupport
import Foundation
import Glibc
import Synchronization

/// Notices when a processor is not there for the programs of the tests: on each a thread, with a right of
/// way if this user may give it one, sleeps for 5 ms again and again and looks how long that was.
final class ProcessorStallMonitor: Sendable {
    static let shared = ProcessorStallMonitor()

    private let stalls: Mutex<ProcessorStalls>

    private init() {
        let processors = ctest_processors()
        stalls = Mutex(ProcessorStalls(processors: Int(processors), now: .now))
        for processor in 0..<processors {
            Thread.detachNewThread { [self] in
                ctest_stay_on(processor)
                while true {
                    usleep(5000)
                    stalls.withLock { $0.markSeen(Int(processor), now: .now) }
                }
            }
        }
    }

    /// How much of a stretch of time it was that one processor or more were away.
    func time(from start: ContinuousClock.Instant, until end: ContinuousClock.Instant) -> Duration {
        stalls.withLock { $0.time(from: start, until: end, now: .now) }
    }
}

/// When processors were away, by when each was last seen.
struct ProcessorStalls {
    typealias Instant = ContinuousClock.Instant

    /// Who is not seen for longer has been away since.
    static let grace = Duration.milliseconds(10)

    /// The earlier an end, the farther to the front.
    private var past: [Range<Instant>] = []
    private var lastSeen: [Instant]

    init(processors: Int, now: Instant) {
        lastSeen = Array(repeating: now, count: processors)
    }

    mutating func markSeen(_ processor: Int, now: Instant) {
        if let stall = stall(of: processor, now: now) { past.append(stall) }
        lastSeen[processor] = now
    }

    /// How much of a stretch of time it was that one processor or more were away.
    func time(from start: Instant, until end: Instant, now: Instant) -> Duration {
        let present = lastSeen.indices.compactMap { stall(of: $0, now: now) }
        var time = Duration.zero
        // All from here to the latest end is counted.
        var counted = end
        for stall in (past + present).reversed() {
            guard stall.upperBound > start else { break }
            let first = max(stall.lowerBound, start)
            time += max(min(stall.upperBound, counted) - first, .zero)
            counted = min(counted, first)
        }
        return time
    }

    /// That which has not ended yet.
    private func stall(of processor: Int, now: Instant) -> Range<Instant>? {
        let start = lastSeen[processor] + Self.grace
        return start < now ? start..<now : nil
    }
}

import CTestSupport
import Foundation
import Glibc
import Synchronization

/// Detects when a processor does not run the tests' programs. One thread for each processor, with
/// real-time priority if this user is allowed that, repeatedly sleeps for 5 ms and measures how long
/// the sleep really took.
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

    /// How much of an interval at least one processor was stalled.
    func time(from start: ContinuousClock.Instant, until end: ContinuousClock.Instant) -> Duration {
        stalls.withLock { $0.time(from: start, until: end, now: .now) }
    }
}

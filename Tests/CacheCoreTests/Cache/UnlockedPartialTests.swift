import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// A file system without locks of open files (fcntl(2), `F_OFD_SETLK`): downloads work, and the log says once that
/// other programs cannot recognise running ones.
@Suite("Cache: partials without locks", .timeLimit(.minutes(5)))
struct UnlockedPartialTests {
    @Test func downloadsGoOnAndTheLogSaysItOnce() async throws {
        try await withTestScope { scope in
            let log = LogLines()
            let locks = FaultPlan(.fcntl, nth: 1, .notSupported, times: .max)
            let fixture = try CacheFixture(in: scope, faults: locks, log: log)
            let image = SampleImage.png(byteCount: 200_000)
            for number in 1...3 {
                fixture.origin.route("/\(number).png", .answer(body: image))
                #expect(try await fixture.fetch("/\(number).png").failures.isEmpty)
            }
            #expect(locks.hasStruck)
            #expect(log.messages.filter { $0.contains("has no locks") }.count == 1)
        }
    }
}

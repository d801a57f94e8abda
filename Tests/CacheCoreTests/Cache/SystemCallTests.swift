import CacheKey
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// How many system calls the usual work on an entry takes. Reading attributes stands for looking at names.
@Suite("Cache: system calls", .timeLimit(.minutes(5)))
struct SystemCallTests {
    /// Counts the reads of attributes, and makes none fail.
    private let reads = FaultPlan(.getxattr, nth: .max, .noSpace)

    /// The call reads the record, and the request reads it again, with the validators. The confirmation reads nothing.
    @Test func aConfirmationReadsNothing() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope, faults: reads)
            let image = SampleImage.png(byteCount: 2000)
            let headers: HeaderFields = ["Cache-Control": "max-age=0", "ETag": "\"1\""]
            fixture.origin.route("/a.png", .answer(headers: headers, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            fixture.cache.waitForScan()
            // Nothing else reads from now on.
            fixture.cache.maintenance.finish()
            await fixture.writeAttributes()
            #expect(try fixture.lookup("/a.png").isCached)
            fixture.origin.route("/a.png", [.head(304, headers)])
            let before = reads.seen
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try fixture.lookup("/a.png").isCached)
            #expect(fixture.cache.statistics().revalidated == 1)
            #expect(reads.seen - before == 3)
        }
    }

    /// A file that was renamed is probed once, by the first lookup after that. One that was linked needs no probe.
    @Test func nobodyProbesWhatWasJustPublished() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope, faults: reads)
            fixture.cache.waitForScan()
            let count = 20
            let before = reads.seen
            for number in 0..<count {
                let image = SampleImage.png(byteCount: 2000, seed: number)
                fixture.origin.route("/\(number).png", .answer(body: image))
                #expect(try await fixture.fetch("/\(number).png").failures.isEmpty)
                #expect(try fixture.lookup("/\(number).png").isCached)
            }
            #expect(0...count ~= reads.seen - before, "\(reads.seen - before)")
        }
    }
}

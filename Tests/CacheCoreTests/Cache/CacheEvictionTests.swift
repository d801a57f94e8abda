import SystemPackage
import TestSupport
import Testing

@testable import CacheCore

/// Evicting files that can't be removed.
@Suite("Cache: evicting", .timeLimit(.minutes(1)))
struct CacheEvictionTests {
    @Test func whatCannotBeRemovedStaysAnEntryAndIsNotCountedAsGone() async throws {
        try await withTestScope { scope in
            let faults = FaultPlan(.unlinkat, nth: 1, .notPermitted)
            let fixture = try CacheFixture(in: scope, faults: faults)
            let names = ["/a.png", "/b.png", "/c.png"]
            for name in names {
                fixture.origin.route(name, .answer(body: SampleImage.png(byteCount: 2000)))
                _ = try await fixture.fetch(name)
            }
            let used = fixture.cache.statistics().bytesUsed
            #expect(await evict(fixture.cache) == .nothing)
            #expect(faults.hasStruck)
            for name in names { #expect(try fixture.lookup(name).isCached) }
            #expect(fixture.cache.statistics().bytesUsed == used)
            // The next time it can be done.
            #expect(await evict(fixture.cache) == Removal(entries: 3, bytes: used))
            for name in names { #expect(try fixture.lookup(name).isMissing) }
        }
    }

    private func evict(_ cache: Cache) async -> Removal {
        await withCheckedContinuation { continuation in
            cache.evict(toBytes: 0) { continuation.resume(returning: $0) }
        }
    }
}

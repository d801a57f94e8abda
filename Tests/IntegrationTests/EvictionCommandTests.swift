import CacheWire
import TestSupport
import Testing

/// `cachectl pin`, `unpin`, `evict` and `pressure` against the built daemon.
@Suite("Eviction by command", .serialized, .timeLimit(.minutes(5)))
struct EvictionCommandTests {
    @Test func pinAndUnpinReportTheirResults() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(2, in: scope)
            let daemon = cache.daemon
            let (url, other) = (cache.urls[0], cache.urls[1])
            let missing = cache.origin.url("/missing.png")

            let pinned = try await daemon.cachectl("pin", url, other)
            #expect(pinned.status == .success)
            #expect(pinned.lines == ["pinned cached \(url)", "pinned cached \(other)"])
            #expect(pinned.errorText.isEmpty)
            let again = try await daemon.cachectl("pin", url)
            #expect(again.status == .success)

            let listed = try await daemon.cachectl("list", "--json")
            #expect(listed.lines.count { $0.contains(#""pinned":true"#) } == 2)

            let partly = try await daemon.cachectl("pin", missing, url)
            #expect(partly.status == .exited(1))
            #expect(partly.lines == ["pinned cached \(url)"])
            #expect(partly.errorText.contains(missing))
            let invalid = try await daemon.cachectl("pin", "nonsense", url)
            #expect(invalid.status == .exited(65))

            let unpinned = try await daemon.cachectl("unpin", url, missing)
            #expect(unpinned.status == .success)
            #expect(unpinned.lines == ["unpinned cached \(url)", "unpinned missing \(missing)"])
            #expect(try await daemon.metric("entriesPinned") == 1)
        }
    }

    @Test func aDownloadPinnedInFlightIsPinnedWhenPublished() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(1, in: scope)
            let daemon = cache.daemon
            let gate = try Gate()
            cache.origin.route("/new.png", .gated(SampleImage.png(byteCount: 900), after: 9, gate))
            let url = cache.origin.url("/new.png")
            let fetch = try daemon.startCachectl("fetch", url)
            try await gate.reached()
            let output = try await daemon.cachectl("pin", url)
            #expect(output.status == .success)
            #expect(output.lines == ["pinned in-flight \(url)"])
            gate.open()
            #expect(try await fetch.waitForExit() == .success)
            try await cache.evict(to: 0)
            #expect(try cache.held().isEmpty)
            #expect(try await daemon.status(url, details: true).pinned == true)
        }
    }

    @Test func evictReportsEvictedAndRemainingBytes() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(6, in: scope)
            let daemon = cache.daemon
            let size = try cache.allocation()
            let some = try await daemon.cachectl("evict", "--to", "\(4 * size)")
            #expect(some.status == .success)
            #expect(some.lines == ["evicted 2 entries, \(2 * size) bytes"])
            #expect(try cache.held() == [2, 3, 4, 5])
            // One byte less than the remaining images need, so one more is evicted.
            let one = try await daemon.cachectl("evict", "--json", "--to", "\(4 * size - 1)")
            #expect(one.status == .success)
            #expect(one.text.contains(#""entries":1"#) && one.text.contains(#""bytes":\#(size)"#))
            let none = try await daemon.cachectl("evict", "--to", "1GB")
            #expect(none.status == .success)
            #expect(none.lines == ["evicted 0 entries, 0 bytes"])

            try await daemon.cachectl("pin", cache.urls[4])
            let all = try await daemon.cachectl("evict", "--to", "0")
            #expect(all.status == .exited(1))
            #expect(all.lines == ["evicted 2 entries, \(2 * size) bytes"])
            #expect(all.errorText.contains("\(size) bytes remain"))
            #expect(try await daemon.cachectl("evict").status == .exited(64))
            #expect(try await daemon.cachectl("evict", "--to", "much").status == .exited(64))
            #expect(try await daemon.metric("evicted") == 5)
            #expect(try await daemon.metric("bytesEvicted") == 5 * size)
        }
    }

    @Test func pressureReportsEvictedEntries() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(8, in: scope)
            let daemon = cache.daemon
            let size = try cache.allocation()
            try await cache.makeOld()
            let warning = try await daemon.cachectl("pressure", "warning")
            #expect(warning.status == .success)
            #expect(warning.lines == ["evicted 2 entries, \(2 * size) bytes"])
            #expect(try cache.held() == [2, 3, 4, 5, 6, 7])
            let critical = try await daemon.cachectl("pressure", "--json", "critical")
            #expect(critical.status == .success)
            #expect(critical.text.contains(#""entries":3"#))
            #expect(try cache.held() == [5, 6, 7])
            #expect(try await daemon.cachectl("pressure", "severe").status == .exited(64))
            try await daemon.expectLedgerMatchesDisk()
        }
    }
}

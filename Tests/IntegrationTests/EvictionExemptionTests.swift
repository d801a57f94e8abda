import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// Files that eviction does not touch: pinned images, those being refreshed, and bytes held by a reader.
@Suite("Exempt from eviction", .serialized, .timeLimit(.minutes(5)))
struct EvictionExemptionTests {
    @Test func pinnedImagesSurviveRestartsAndRefreshes() async throws {
        try await withTestScope { scope in
            var cache = try await FilledCache(5, in: scope)
            let pinned = cache.urls[1]
            #expect(try await cache.daemon.cachectl("pin", pinned).status == .success)
            try await cache.evict(to: 0)
            #expect(try cache.held() == [1])
            #expect(try await cache.daemon.metric("entriesPinned") == 1)

            for crash in [false, true] {
                try await cache.restart(afterCrash: crash)
                try await cache.evict(to: 0)
                #expect(try cache.held() == [1], "crash: \(crash)")
            }

            let other = SampleImage.png(byteCount: 5000, seed: 77)
            cache.origin.route("/1.png", .answer(body: other))
            let output = try await cache.daemon.cachectl("fetch", "--refresh", pinned)
            #expect(output.status == .success)
            #expect(try contents(of: try cache.path(1)) == other)
            #expect(try await cache.daemon.status(pinned, details: true).pinned == true)
            try await cache.evict(to: 0)
            try await cache.restart(afterCrash: true)
            try await cache.evict(to: 0)
            #expect(try cache.held() == [1])
            #expect(try await cache.daemon.status(pinned, details: true).pinned == true)
        }
    }

    @Test func aPinnedImageIsRemovedOnlyByItsOwnURL() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(5, in: scope)
            let daemon = cache.daemon
            #expect(
                try await daemon.cachectl("pin", cache.urls[1], cache.urls[2]).status == .success)
            try await daemon.cachectl("remove", "--prefix", cache.urls[1])
            #expect(try cache.held() == [0, 1, 2, 3, 4])
            try await daemon.cachectl("remove", "--all")
            #expect(try cache.held() == [1, 2])
            let output = try await daemon.cachectl("remove", cache.urls[1])
            #expect(output.status == .success)
            #expect(try cache.held() == [2])
            // The pin was removed with the image.
            #expect(try await daemon.fetch(cache.urls[1]).state == .cached)
            try await cache.evict(to: 0)
            #expect(try cache.held() == [2])
            try await daemon.expectLedgerMatchesDisk()
        }
    }

    @Test func aBudgetFullOfPinsRefusesDownloadsAndSaysSo() async throws {
        try await withTestScope { scope in
            var options = DaemonFixture.Options()
            options.arguments = ["--max-bytes", "100kB"]
            let cache = try await FilledCache(2, of: 38_000, options, in: scope)
            let daemon = cache.daemon
            #expect(
                try await daemon.cachectl("pin", cache.urls[0], cache.urls[1]).status == .success)
            cache.origin.route("/new.png", .answer(body: SampleImage.png(byteCount: 30_000)))
            let url = cache.origin.url("/new.png")
            let refused = try await daemon.cachectl("fetch", url)
            #expect(refused.status == .exited(1))
            #expect(refused.errorText.contains("no room"))
            #expect(refused.errorText.contains("pinned"))
            #expect(try cache.held() == [0, 1])
            #expect(try await daemon.metric("refused") == 1)

            #expect(try await daemon.cachectl("unpin", cache.urls[1]).status == .success)
            #expect(try await daemon.cachectl("fetch", url).status == .success)
            #expect(try cache.held() == [0])
            try await daemon.expectLedgerMatchesDisk()
        }
    }

    @Test func anEntryLimitFullOfPinsRefusesDownloadsAndSaysSo() async throws {
        try await withTestScope { scope in
            var options = DaemonFixture.Options()
            options.arguments = ["--max-entries", "2"]
            let cache = try await FilledCache(2, options, in: scope)
            let daemon = cache.daemon
            #expect(
                try await daemon.cachectl("pin", cache.urls[0], cache.urls[1]).status == .success)
            cache.origin.route("/new.png", .answer(body: SampleImage.png(byteCount: 900)))
            let refused = try await daemon.cachectl("fetch", cache.origin.url("/new.png"))
            #expect(refused.status == .exited(1))
            #expect(refused.errorText.contains("--max-entries"))
            // A cached image can still be refreshed.
            #expect(
                try await daemon.cachectl("fetch", "--refresh", cache.urls[0]).status == .success)
            #expect(try cache.held() == [0, 1])
        }
    }

    @Test func anImageBeingRefreshedIsNotEvicted() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(4, in: scope)
            let daemon = cache.daemon
            let gate = try Gate()
            let other = SampleImage.png(byteCount: 8000, seed: 99)
            cache.origin.route("/0.png", .gated(other, after: 3000, gate))
            let refresh = try daemon.startCachectl("fetch", "--refresh", cache.urls[0])
            try await gate.reached()
            try await daemon.waitForProgress(of: cache.urls[0])
            let output = try await daemon.cachectl("evict", "--to", "0")
            #expect(output.status == .exited(1))
            #expect(output.errorText.contains("active downloads"))
            #expect(try cache.held() == [0])
            #expect(try await daemon.status(cache.urls[0]).state == .cached)
            try await daemon.cachectl("pressure", "critical")
            #expect(try cache.held() == [0])
            gate.open()
            #expect(try await refresh.waitForExit() == .success)
            #expect(try contents(of: try cache.path(0)) == other)
            try await cache.evict(to: 0)
            #expect(try cache.held().isEmpty)
            try await daemon.expectLedgerMatchesDisk()
        }
    }

    @Test func anOpenFileStaysReadableAfterEviction() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(3, of: 50_000, in: scope)
            let image = try contents(of: try cache.path(0))
            let file = try #require(FileHandle(forReadingAtPath: try cache.path(0)))
            let mapped = try Data(
                contentsOf: URL(filePath: try cache.path(0)), options: .alwaysMapped)
            try await cache.evict(to: 0)
            #expect(try cache.held().isEmpty)
            #expect(try file.readToEnd().map(Array.init) == image)
            #expect(Array(mapped) == image)
            try file.close()
        }
    }
}

extension DaemonFixture {
    /// Waits until the first bytes of a download are written.
    fileprivate func waitForProgress(of url: String) async throws {
        let partial = try path(url) + ".part"
        try await waitUntil("bytes of \(url)") {
            _ = try await metric("entries")
            return size(at: partial) ?? 0 > 0
        }
    }
}

import CacheKey
import CacheSamples
import CacheValues
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

@Suite("Cache: listings", .timeLimit(.minutes(5)))
struct CacheListingTests {
    @Test func listsInEachOrderPageByPage() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let names = (0..<7).map { "/\($0).png" }
            for (number, name) in names.enumerated() {
                let image = SampleImage.png(byteCount: 1000 + (number * 5 % 7) * 100)
                fixture.origin.route(name, .answer(body: image))
                _ = try await fixture.fetch(name)
            }
            // This image is used again, so it is the most recent one.
            _ = try await fixture.fetch(names[2])
            #expect(
                try listed(fixture, .recency)
                    == [2, 6, 5, 4, 3, 1, 0].map { try fixture.imageRequest(names[$0]).key })
            let sizes = fixture.cache.list(.size, limit: 100, after: nil).map(\.facts.size)
            #expect(sizes == [1600, 1500, 1400, 1300, 1200, 1100, 1000])
            #expect(
                try listed(fixture, .size)
                    == fixture.cache.list(.size, limit: 100, after: nil).map(\.key))
            #expect(try Set(listed(fixture, .age)).count == 7)
            for order in [ListOrder.recency, .size, .age] {
                let reversed = try listed(fixture, order, isReversed: true)
                #expect(try reversed == listed(fixture, order).reversed())
            }
        }
    }

    @Test func aListingBySizeContinuesAfterARemovedEntry() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            for number in 0..<5 {
                let image = SampleImage.png(byteCount: 1000 + number)
                fixture.origin.route("/\(number).png", .answer(body: image))
            }
            _ = try await fixture.fetch("/0.png", "/1.png", "/2.png", "/3.png", "/4.png")
            let first = fixture.cache.list(.size, limit: 2, after: nil)
            #expect(first.map(\.facts.size) == [1004, 1003])
            _ = try await fixture.remove("/3.png")
            let cursor = ListCursor(try #require(first.last), in: .size)
            let text = try #require(ListCursor(cursor.description))
            let rest = fixture.cache.list(.size, limit: 9, after: text)
            #expect(rest.map(\.facts.size) == [1002, 1001, 1000])
        }
    }

    /// The cache cannot watch changes in this test.
    @Test(arguments: [ListOrder.recency, .size])
    func omitsAFileThatWasRemovedUnobserved(order: ListOrder) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(
                in: scope, faults: FaultPlan(.inotify, nth: 1, .tooManyOpenFiles))
            for name in ["/a.png", "/b.png", "/c.png"] {
                fixture.origin.route(name, .answer(body: SampleImage.png(byteCount: 1000)))
                _ = try await fixture.fetch(name)
            }
            #expect(unlink(try fixture.file("/b.png")) == 0)
            let keys = try ["/a.png", "/c.png"].map { try fixture.imageRequest($0).key }
            #expect(try Set(listed(fixture, order)) == Set(keys))
        }
    }

    @Test func listsAnEntryThatCannotBeProbed() async throws {
        try await withTestScope { scope in
            let faults = FaultPlan(
                .getxattr, nth: 50, .ioError, times: .max,
                and: FaultPlan(.inotify, nth: 1, .tooManyOpenFiles))
            let fixture = try CacheFixture(in: scope, faults: faults)
            fixture.origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 1000)))
            _ = try await fixture.fetch("/a.png")
            #expect(!faults.hasStruck)
            while !faults.hasStruck { _ = try fixture.lookup("/a.png") }
            guard case .missing(let failure?) = try fixture.lookup("/a.png") else {
                Issue.record("the entry could be probed")
                return
            }
            #expect(failure.kind == .storage)
            #expect(try listed(fixture, .recency) == [fixture.imageRequest("/a.png").key])
        }
    }

    enum Event: CaseIterable {
        case nothing, used, gone
    }

    /// All other entries are listed exactly once, even if the last entry of a page is removed or changed.
    @Test(arguments: Event.allCases, [false, true])
    func aListingByRecencyContinuesFromItsPosition(event: Event, isReversed: Bool) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let keys = (0..<9).map { Sample.key("\($0)") }
            // Files that were copied in together can have the same time of use, or one in the
            // future.
            let times: [UInt32] = [10, 11, 11, 11, 11, 11, 4_000_000_000, 13, 14]
            try await take(keys, times, into: fixture.cache)
            var listed: [CacheKey] = []
            var touched: Set<CacheKey> = []
            var cursor: ListCursor?
            repeat {
                let page = fixture.cache.list(
                    .recency, isReversed: isReversed, limit: 2, after: cursor)
                listed += page.map(\.key)
                cursor = page.count == 2 ? page.last.map { ListCursor($0, in: .recency) } : nil
                guard event != .nothing, let last = cursor?.key else { continue }
                touched.insert(last)
                fixture.cache.run { state, _ in
                    if event == .gone {
                        _ = state.disk.remove(last)
                    } else {
                        state.disk.used(last, at: .now)
                    }
                }
                try #require(listed.count < 3 * keys.count, "it does not end")
            } while cursor != nil
            #expect(listed.filter { !touched.contains($0) }.count == keys.count - touched.count)
            #expect(Set(listed) == Set(keys))
        }
    }

    private func take(_ keys: [CacheKey], _ times: [UInt32], into cache: Cache) async throws {
        // A scan would find no files for these keys.
        try await waitUntil("the end of the scan") { cache.statistics().isWhole }
        cache.run { state, _ in
            for (key, time) in zip(keys, times) {
                _ = state.disk.insert(key, Sample.facts(lastUsedAt: time))
            }
        }
    }

    private func listed(
        _ fixture: CacheFixture, _ order: ListOrder, isReversed: Bool = false
    ) throws -> [CacheKey] {
        var entries: [ListedEntry] = []
        while true {
            let cursor = entries.last.map { ListCursor($0, in: order) }
            let page = fixture.cache.list(
                order, isReversed: isReversed, limit: 3, after: cursor)
            entries += page
            guard page.count == 3 else { return entries.map(\.key) }
        }
    }
}

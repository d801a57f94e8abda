import CacheSamples
import CacheValues
import HTTPCaching
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// The record that an object carries.
@Suite("Store: record")
struct StoreRecordTests {
    private func head(date: Int64?, modified: Int64?) -> ResponseHead {
        var head = ResponseHead()
        var lines = ["HTTP/1.1 200 OK\r\n"]
        if let date { lines.append("Date: \(Sample.date(date))\r\n") }
        if let modified { lines.append("Last-Modified: \(Sample.date(modified))\r\n") }
        for line in lines + ["\r\n"] {
            Array(line.utf8).withUnsafeBytes { _ = head.take($0) }
        }
        return head
    }

    @Test func everyFieldSurvivesTheText() throws {
        var record = Sample.record(size: 22_031)
        record.terms.lifetime = 3600
        record.terms.isGuessed = true
        record.terms.mustRevalidate = true
        record.terms.staleWhileRevalidate = 60
        record.terms.staleIfError = 86_400
        let text = StoreRecord(record, put: Sample.now + 2).text
        let read = try #require(StoreRecord(text: text))
        #expect(read.record == record)
        #expect(read.put == Sample.now + 2)
        #expect(text.utf8.count <= 256)
        #expect(!text.contains("  "))
    }

    @Test func aLongTextLosesItsValidators() throws {
        var record = Sample.record(size: 1)
        record.validators.entityTag = "\"\(String(repeating: "x", count: 200))\""
        let read = try #require(StoreRecord(text: StoreRecord(record, put: Sample.now).text))
        #expect(read.record.validators == Validators())
        #expect(read.record.freshUntil == record.freshUntil)
    }

    @Test func aTagBeyondASCIIIsLeftOut() throws {
        var record = Sample.record(size: 1)
        record.validators.entityTag = "\"ü\""
        let text = StoreRecord(record, put: Sample.now).text
        #expect(text.utf8.allSatisfy { $0 < 0x80 })
        #expect(StoreRecord(text: text) != nil)
    }

    @Test func damageIsNoticed() {
        let text = StoreRecord(Sample.record(size: 22_031), put: Sample.now).text
        for place in text.utf8.indices {
            var bytes = Array(text.utf8)
            bytes[text.utf8.distance(from: text.startIndex, to: place)] ^= 1
            #expect(StoreRecord(text: String(decoding: bytes, as: UTF8.self)) == nil)
        }
        #expect(StoreRecord(text: "") == nil)
        #expect(StoreRecord(text: "v1 size=1 put=2") == nil)
    }

    /// The writer's clock was an hour behind this one, and the object is 100 seconds old.
    @Test func onlyTheStoresClockCounts() throws {
        let record = Sample.record(size: 1)
        let stored = StoreRecord(record, put: Sample.now + 10)
        let now = Sample.now + 3600
        let entry = stored.entry(answeredBy: head(date: 5100, modified: 5000), now: now)
        #expect(entry.freshUntil == now + (3600 - 10 - 100))
        #expect(entry.fetchedAt == now + (-10 - 100))
        #expect(entry.isFromStore)
        #expect(entry.validators == record.validators)
    }

    @Test func anObjectOfUnknownAgeIsStale() {
        let stored = StoreRecord(Sample.record(size: 1), put: Sample.now)
        for head in [head(date: nil, modified: 0), head(date: 0, modified: nil)] {
            #expect(stored.entry(answeredBy: head, now: Sample.now).reuse(at: Sample.now) != .fresh)
        }
    }

    @Test func aRecordOnDiskKeepsItsSourceAndWhetherItMayBeShared() throws {
        var record = Sample.record(size: 1)
        record.validators = Validators()
        (record.isFromStore, record.isShareable) = (true, true)
        let read = record.bytes.withUnsafeBytes { EntryRecord($0) }
        #expect(read == record)
    }
}

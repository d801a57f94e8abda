import CacheValues
import ImageFormats
import TestSupport
import Testing

@testable import HTTPCaching

/// The text of a record in a store. ``StoreRecord`` checks its sum.
@Suite("Entry record as text", .timeLimit(.minutes(5)))
struct RecordTextTests {
    private static let text = """
        v1 size=22031 type=image/png width=64 height=48 fetched=1790000000 \
        fresh=1790003600 modified=1780000000 etag="x1"
        """

    private static let terms = """
        v1 size=5 type=image/png width=64 height=48 fetched=1790000000 \
        fresh=1790003600 lifetime=3600 strict=1 swr=60 sie=0 modified=1780000000 etag="x1"
        """

    @Test func readsTheDocumentedText() {
        #expect(parsed(Self.text) == Sample.record(size: 22031))
    }

    @Test func readsTheDocumentedTerms() {
        var record = Sample.record(size: 5)
        record.terms.lifetime = 3600
        record.terms.mustRevalidate = true
        record.terms.staleWhileRevalidate = 60
        record.terms.staleIfError = 0
        #expect(parsed(Self.terms) == record)
        #expect(parsed("v1 size=5 guessed=1")?.terms.isGuessed == true)
        let source = parsed("v1 size=5 at=9a modified=1")?.validators.source
        #expect(source == ResponseSource("9a"))
    }

    @Test func readsRecordsWithoutTerms() {
        let record = parsed("v1 size=5 type=image/png fetched=7 fresh=9")
        #expect(record?.terms == ReuseTerms())
    }

    @Test func skipsUnknownFields() {
        let record = parsed("v1 future=x size=5 color= type=image/png a=b=c fetched=7")
        #expect(record?.size == 5)
        #expect(record?.fetchedAt == UnixTime(rawValue: 7))
    }

    @Test(arguments: [
        "", " ", "v1", "v2 size=5", "V1 size=5", "size=5", "v1 size", "v1 size=", "v1 size=-5",
        "v1 size=5x", "v1 size=0x5", "v1 size=1234567890123456789", "v1 type=image/png",
        "v1 size=5 fetched=x", "v1 size=5 fresh=", "v1 size=5 junk", "v1\0size=5",
        "v1 size=5\n", "{\"size\":5}",
    ])
    func rejectsGarbage(text: String) {
        #expect(parsed(text) == nil)
    }

    @Test func readsRandomBytesWithoutATrap() {
        var random = SeededGenerator(seed: 9)
        for _ in 0..<2000 {
            var bytes = Array("v1 size=5 fetched=7 etag=\"x\"".utf8)
            for _ in 0..<3 {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            if let record = bytes.withUnsafeBytes({ EntryRecord(text: $0) }) {
                #expect(record.size >= 0)
            }
        }
    }

    private func parsed(_ text: String) -> EntryRecord? {
        Array(text.utf8).withUnsafeBytes { EntryRecord(text: $0) }
    }
}

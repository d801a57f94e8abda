import CacheKey
import CacheModel
import ImageFormats
import TestSupport
import Testing

@testable import HTTPCaching

@Suite("Entry record", .timeLimit(.minutes(5)))
struct EntryRecordTests {
    @Test(arguments: [UInt64](1...3))
    func parsesEveryWrittenRecord(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let hasPixels = random.oneIn(2)
            let record = EntryRecord(
                size: Int64.random(in: 0...(1 << 50), using: &random), mediaType: .png,
                width: hasPixels ? Int.random(in: 1...100_000, using: &random) : nil,
                height: hasPixels ? Int.random(in: 1...100_000, using: &random) : nil,
                fetchedAt: time(&random), freshUntil: random.oneIn(2) ? time(&random) : nil,
                validators: Validators(
                    entityTag: random.oneIn(2) ? "W/\"é=\(random.next())\"" : nil,
                    lastModified: random.oneIn(2) ? time(&random) : nil),
                isPinned: random.oneIn(2), terms: terms(&random),
                removeAt: random.oneIn(2) ? time(&random) : nil)
            #expect(parsed(record.text) == record, "\(record.text)")
        }
    }

    @Test func writesTheDocumentedText() {
        let text = Sample.record(size: 22031, isPinned: true).text
        #expect(
            text == """
                v1 size=22031 type=image/png width=64 height=48 fetched=1790000000 \
                fresh=1790003600 pinned=1 modified=1780000000 etag="x1" sum=b79b9b11
                """)
    }

    @Test func writesTheDocumentedTerms() {
        var record = Sample.record(size: 5)
        record.terms.lifetime = 3600
        record.terms.mustRevalidate = true
        record.terms.staleWhileRevalidate = 60
        record.terms.staleIfError = 0
        record.removeAt = UnixTime(rawValue: 1_790_000_060)
        #expect(
            record.text == """
                v1 size=5 type=image/png width=64 height=48 fetched=1790000000 \
                fresh=1790003600 lifetime=3600 strict=1 swr=60 sie=0 remove=1790000060 \
                modified=1780000000 etag="x1" sum=771651db
                """)
        record = Sample.record(size: 5)
        record.terms.isGuessed = true
        #expect(record.text.contains(" fresh=1790003600 guessed=1 modified="))
    }

    @Test func readsFirstVersionWithoutTerms() {
        let record = parsed("v1 size=5 type=image/png fetched=7 fresh=9")
        #expect(record?.terms == ReuseTerms())
        #expect(record?.removeAt == nil)
    }

    /// A record with one flipped bit is rejected, or it still says the same.
    @Test(arguments: [UInt64](1...20))
    func detectsEveryFlippedBit(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var record = Sample.record(size: Int64.random(in: 1...1_000_000, using: &random))
        record.terms = terms(&random)
        record.isPinned = random.oneIn(2)
        let bytes = Array(record.text.utf8)
        for bit in 0..<bytes.count * 8 {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            let read = damaged.withUnsafeBytes { EntryRecord(text: $0) }
            #expect(read == nil || read == record, "\(String(decoding: damaged, as: UTF8.self))")
        }
    }

    @Test func checksumIsTheCRCOfGzip() {
        #expect(RecordChecksum.crc32("123456789".utf8) == 0xCBF4_3926)
    }

    @Test(arguments: ["sum=00000000", "sum=20ECD4A8", "sum=zzzzzzzz"])
    func rejectsWrongChecksums(sum: String) {
        #expect(parsed("v1 size=5 " + sum) == nil)
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

    @Test func namesTheAttributeByEightDigitsOfTheKey() {
        for number in 0..<50 as Range<UInt64> {
            let key = CacheKey(high: 0x0123_4567_89AB_CDEF &* (number + 1), low: 0)
            #expect(
                EntryRecord.attributeName(of: key) == "user.cached.\(key.description.prefix(8))")
        }
        let small = CacheKey(high: 0x0000_00AB << 32, low: 0)
        #expect(EntryRecord.attributeName(of: small) == "user.cached.000000ab")
    }

    private func terms(_ random: inout SeededGenerator) -> ReuseTerms {
        func seconds() -> Int64? {
            random.oneIn(2) ? Int64.random(in: 0...(1 << 31), using: &random) : nil
        }
        var terms = ReuseTerms()
        terms.lifetime = seconds()
        terms.isGuessed = random.oneIn(2)
        terms.mustRevalidate = random.oneIn(2)
        terms.staleWhileRevalidate = seconds()
        terms.staleIfError = seconds()
        return terms
    }

    private func time(_ random: inout SeededGenerator) -> UnixTime {
        UnixTime(rawValue: UInt32.random(in: 0...UInt32.max, using: &random))
    }

    private func parsed(_ text: String) -> EntryRecord? {
        Array(text.utf8).withUnsafeBytes { EntryRecord(text: $0) }
    }
}

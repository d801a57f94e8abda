import CacheKey
import CacheValues
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
            let record = Self.record(&random)
            #expect(EntryRecord(record.bytes) == record.withoutValidators, "\(record)")
        }
    }

    @Test func writesTheDocumentedBytes() throws {
        var record = Sample.record(size: 22031, isPinned: true)
        record.terms.lifetime = 3600
        record.terms.mustRevalidate = true
        record.terms.staleWhileRevalidate = 60
        record.terms.staleIfError = 0
        record.removeAt = UnixTime(rawValue: 1_790_000_060)
        record.orientation = try #require(Orientation(rawValue: 6))
        let fields: [[UInt8]] = [
            Array("v3".utf8), [2, 0], [0b1111_1101, 0b0001_0100, 0, 0],
            [0x0F, 0x56, 0, 0, 0, 0, 0, 0],
            [64, 0, 0, 0], [48, 0, 0, 0], [0x80, 0x3B, 0xB1, 0x6A], [0x90, 0x49, 0xB1, 0x6A],
            [0xBC, 0x3B, 0xB1, 0x6A], [0x10, 0x0E, 0, 0], [60, 0, 0, 0], [0, 0, 0, 0],
            [0, 0, 0, 0],
        ]
        var expected = fields.flatMap { $0 }
        expected.seal()
        #expect(record.bytes == expected)
    }

    /// 96 bytes of an inode of ext4 hold the attribute: 4 of a header, 16 of an entry, 16 of the name without `user.`,
    /// 4 at the end, and the value.
    @Test func fitsIntoTheInode() {
        let name = EntryRecord.attributeName(of: CacheKey(high: 0, low: 0)).dropFirst("user.".count)
        #expect(name.utf8.count <= 16)
        #expect(Sample.record(size: .max).bytes.count <= 96 - 4 - 16 - 16 - 4)
    }

    /// The numbers are in files, so they never change.
    @Test func writesTheDocumentedTypes() {
        let types: [MediaType] = [
            .other, .jpeg, .png, .gif, .webp, .avif, .heic, .jxl, .bmp, .tiff, .ico, .svg,
        ]
        for (number, type) in types.enumerated() {
            var record = Sample.record(size: 5)
            record.mediaType = type
            #expect(record.bytes[2..<4].elementsEqual([UInt8(number), 0]))
        }
        #expect(types.count == MediaType.allCases.count)
    }

    /// A later daemon can know more types and flags, and write more fields.
    @Test func readsWhatALaterDaemonAdds() {
        var bytes = Array(Sample.record(size: 5).bytes.dropLast(4))
        bytes[2] = 200
        bytes[7] |= 0x80
        bytes += [5, 6, 7, 8]
        bytes += [0, 0, 0, 0]
        bytes.seal()
        var expected = Sample.record(size: 5).withoutValidators
        expected.mediaType = .other
        #expect(EntryRecord(bytes) == expected)
    }

    @Test func clampsWhatHasNoRoom() {
        var record = Sample.record(size: 5)
        record.width = 1 << 40
        record.terms.staleIfError = 1 << 40
        let read = EntryRecord(record.bytes)
        #expect(read?.width == Int(UInt32.max))
        #expect(read?.terms.staleIfError == Int64(UInt32.max))
    }

    @Test(arguments: [UInt64](1...20))
    func rejectsEveryFlippedBit(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bytes = Self.record(&random).bytes
        for bit in 0..<bytes.count * 8 {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(EntryRecord(damaged) == nil, "bit \(bit)")
        }
    }

    @Test func rejectsEveryOtherLength() {
        let bytes = Sample.record(size: 5).bytes
        for count in bytes.indices { #expect(EntryRecord(Array(bytes[..<count])) == nil) }
        for count in 1...64 {
            #expect(EntryRecord(bytes + [UInt8](repeating: 0, count: count)) == nil)
        }
    }

    @Test(arguments: ["v0", "v2", "v4", "V3", "3v"])
    func rejectsOtherVersions(version: String) {
        var bytes = Array(Sample.record(size: 5).bytes.dropLast(4))
        bytes.replaceSubrange(0..<2, with: version.utf8)
        bytes.seal()
        #expect(EntryRecord(bytes) == nil)
    }

    @Test func rejectsANegativeSize() {
        var bytes = Array(Sample.record(size: 5).bytes.dropLast(4))
        bytes[15] = 0x80
        bytes.seal()
        #expect(EntryRecord(bytes) == nil)
    }

    @Test func checksumIsTheCRCOfGzip() {
        #expect(RecordChecksum.crc32("123456789".utf8) == 0xCBF4_3926)
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

    private static func record(_ random: inout SeededGenerator) -> EntryRecord {
        func time() -> UnixTime {
            UnixTime(rawValue: UInt32.random(in: 0...UInt32.max, using: &random))
        }
        func pixels() -> Int? {
            random.oneIn(2) ? Int.random(in: 1...100_000, using: &random) : nil
        }
        func seconds() -> Int64? {
            random.oneIn(2) ? Int64.random(in: 0...(1 << 31), using: &random) : nil
        }
        var terms = ReuseTerms()
        terms.lifetime = seconds()
        terms.isGuessed = random.oneIn(2)
        terms.mustRevalidate = random.oneIn(2)
        terms.staleWhileRevalidate = seconds()
        terms.staleIfError = seconds()
        var record = EntryRecord(
            size: Int64.random(in: 0...(.max), using: &random),
            mediaType: random.one(of: MediaType.allCases), width: pixels(), height: pixels(),
            fetchedAt: time(), freshUntil: random.oneIn(2) ? time() : nil,
            validators: Validators(entityTag: "\"1\""), isPinned: random.oneIn(2), terms: terms,
            removeAt: random.oneIn(2) ? time() : nil)
        record.orientation = Orientation(rawValue: .random(in: 1...8, using: &random)) ?? .upright
        return record
    }
}

import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import HTTPCaching

@Suite("Validator record", .timeLimit(.minutes(5)))
struct ValidatorRecordTests {
    private static let digest = String(repeating: "ab", count: 32)

    private static let full = ValidatorRecord(
        digest: digest,
        validators: Validators(
            entityTag: "W/\"é=1\"", lastModified: UnixTime(rawValue: 1_780_000_000),
            source: ResponseSource(url: "http://images.test/b")))

    @Test func readsWhatItWrote() {
        for digest in [Self.digest, nil] {
            for tag in ["\"x1\"", "W/\"é=\"", nil] {
                for time in [UnixTime(rawValue: 0), UnixTime(rawValue: .max), nil] {
                    let record = ValidatorRecord(
                        digest: digest, validators: Validators(entityTag: tag, lastModified: time))
                    #expect(ValidatorRecord(text: record.text) == record, "\(record.text)")
                }
            }
        }
        #expect(ValidatorRecord(text: Self.full.text) == Self.full)
    }

    @Test func writesTheDocumentedText() {
        let validators = Sample.record(size: 5).validators
        let record = ValidatorRecord(digest: Self.digest, validators: validators)
        #expect(
            record.text.hasPrefix("v2 sha256=\(Self.digest) modified=1780000000 etag=\"x1\" sum="))
        #expect(record.bare.text.hasPrefix("v2 sha256=\(Self.digest) sum="))
    }

    @Test func rejectsEveryFlippedBit() {
        let bytes = Array(Self.full.text.utf8)
        for bit in 0..<bytes.count * 8 {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(ValidatorRecord(text: String(decoding: damaged, as: UTF8.self)) == nil)
        }
    }

    @Test(arguments: ["", "v1", "v3 sha256=ab", "v2 junk", "sha256=ab"])
    func rejectsGarbage(fields: String) {
        var text = fields
        RecordChecksum.seal(&text)
        #expect(ValidatorRecord(text: text) == nil)
        #expect(ValidatorRecord(text: fields) == nil, "it needs a checksum")
    }

    @Test func skipsUnknownFields() {
        var text = "v2 future=x sha256=\(Self.digest) color="
        RecordChecksum.seal(&text)
        #expect(
            ValidatorRecord(text: text)
                == ValidatorRecord(digest: Self.digest, validators: Validators()))
    }

    @Test func itsNameBelongsToTheKey() {
        let key = CacheKey(high: 0x64AE_7D25 << 32, low: 0)
        #expect(ValidatorRecord.attributeName(of: key) == "user.cached.64ae7d25.validators")
    }
}

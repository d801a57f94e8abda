import CacheWire
import Testing

@Suite("Byte sizes", .timeLimit(.minutes(5)))
struct ByteSizeTests {
    @Test(arguments: [
        ("0", 0), ("1", 1), ("17B", 17), ("2kB", 2000), ("2MB", 2_000_000), ("2MiB", 2 << 20),
        ("3KiB", 3072), ("1GB", 1_000_000_000), ("1GiB", 1 << 30), ("1TB", 1_000_000_000_000),
        ("1TiB", 1 << 40), ("9223372036854775807", Int64.max), ("8388607TiB", 8_388_607 << 40),
    ])
    func unitsAreParsed(text: String, count: Int64) {
        #expect(ByteSize(text)?.count == count)
    }

    @Test(arguments: [
        "", "B", "MiB", "-1", "+1", " 1", "1 ", "1 MB", "1.5MB", "2mb", "2Mb", "0x10", "1MiBB",
        "9223372036854775808", "8388608TiB", "٣MB", "2K",
    ])
    func otherTextsAreRejected(text: String) {
        #expect(ByteSize(text) == nil)
    }

    @Test func descriptionParsesBackToTheSameSize() throws {
        let size = try #require(ByteSize("64MiB"))
        #expect(ByteSize(size.description)?.count == size.count)
    }
}

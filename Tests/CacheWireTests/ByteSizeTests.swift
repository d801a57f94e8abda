import CacheWire
import Testing

@Suite("Byte sizes", .timeLimit(.minutes(5)))
struct ByteSizeTests {
    private static let sizes: [(String, Int64)] = [
        ("0", 0), ("1", 1), ("17B", 17), ("2kB", 2000), ("2MB", 2_000_000), ("2MiB", 2_097_152),
        ("3KiB", 3072), ("1GB", 1_000_000_000), ("1GiB", 1_073_741_824), ("1TB", 1_000_000_000_000),
        ("1TiB", 1_099_511_627_776), ("2K", 2048), ("500M", 524_288_000), ("5G", 5_368_709_120),
        ("1T", 1_099_511_627_776), ("9223372036854775807", Int64.max),
        ("8388607TiB", 9_223_370_937_343_148_032), ("600KB", 600_000), ("2mb", 2_000_000),
        ("1.5GB", 1_500_000_000), ("0.5k", 512), ("1.25MiB", 1_310_720), ("1.9B", 1),
    ]

    @Test(arguments: sizes)
    func unitsAreParsed(text: String, count: Int64) {
        #expect(ByteSize(text)?.count == count)
    }

    @Test(arguments: [
        "", "B", "MiB", "-1", "+1", " 1", "1 ", "1 MB", "1.MB", ".5MB", "1.2.3MB", "1,5MB", "0x10",
        "1MiBB",
        "9223372036854775808", "8388608TiB", "٣MB", "2Ki", "1e5",
    ])
    func otherTextsAreRejected(text: String) {
        #expect(ByteSize(text) == nil)
    }

    @Test func descriptionParsesBackToTheSameSize() throws {
        let size = try #require(ByteSize("64MiB"))
        #expect(ByteSize(size.description)?.count == size.count)
    }
}

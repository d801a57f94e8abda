import Testing

@testable import CacheCore

@Suite("ICO and TIFF")
struct DirectoryWalkerTests {
    @Test func icoWhoseEntryPointsIntoItsDirectoryIsNone() {
        var bytes = ImageSample.ico.bytes
        bytes[18] = 37
        #expect(inspect(bytes) == .notAnImage)
    }

    @Test func icoLackingItsFurthestImageIsTruncated() {
        let bytes = Bytes(ImageSample.ico.bytes.dropLast())
        #expect(inspect(bytes) == .init(.ico, 16, 256, .truncated))
    }

    @Test func tiffLackingItsDirectoryIsEmpty() {
        let bytes = Bytes(ImageSample.tiff.bytes.prefix(30))
        #expect(inspect(bytes) == .init(.tiff, nil, nil, .empty))
    }

    @Test func tiffWithAHugeDirectoryHasNoDimensions() {
        let bytes = text("II") + little16(42) + little32(8) + little16(60_000) + zeros(50)
        #expect(inspect(bytes) == .init(.tiff, nil, nil, .unverifiable))
    }
}

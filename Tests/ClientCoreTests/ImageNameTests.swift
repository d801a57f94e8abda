import CacheKey
import ClientCore
import TestSupport
import Testing

/// Names without libcrypto equal those of the cache.
@Suite struct ImageNameTests {
    private func name(_ url: [UInt8]) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: ImageName.length) { room in
            url.withUnsafeBytes { ImageName(url: $0) }.write(to: room.baseAddress!)
            return String(decoding: room, as: UTF8.self)
        }
    }

    @Test func everyLengthHasTheNameOfTheCache() {
        var random = SeededGenerator(seed: 41)
        // Lengths around the blocks of SHA-1, and a URL of 9 kB.
        for length in Array(0...300) + [8192, 9000] {
            let url = random.bytes(length)
            #expect(name(url) == url.withUnsafeBytes { CacheKey(urlBytes: $0) }.description)
        }
        #expect(
            name(Array("https://example.com/a.png".utf8)) == "c01a4429-4703-5b6a-8726-7982c1849d2a")
    }
}

import CacheValues
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("Content digest", .timeLimit(.minutes(5)))
struct ContentDigestTests {
    static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    static let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    /// The examples of FIPS 180-4.
    @Test func matchesThePublishedVectors() throws {
        var digest = SHA256()
        #expect(digest.finish().description == Self.empty)
        for piece in ["a", "", "bc"] {
            Array(piece.utf8).withUnsafeBytes { digest.update($0) }
        }
        let found = digest.finish()
        #expect(found.description == Self.abc)
        #expect(digest.finish().description == Self.empty)
    }

    @Test func readsHexOfEitherCase() {
        #expect(ContentDigest(Self.abc)?.description == Self.abc)
        #expect(ContentDigest(Self.abc.uppercased())?.description == Self.abc)
    }

    @Test(arguments: [
        "", "ab", String(repeating: "a", count: 63), String(repeating: "a", count: 65),
        String(repeating: "g", count: 64), String(repeating: "é", count: 32),
        String(repeating: "a", count: 64) + "é", " " + String(repeating: "a", count: 63),
    ])
    func rejectsAllOtherText(text: String) {
        #expect(ContentDigest(text) == nil)
    }
}

import CLinux
import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import ImageFormats
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Partials written by hand, as an interrupted download would leave them.
extension CacheFixture {
    func partial(_ path: String) throws -> String { try file(path) + ".part" }

    /// Bytes in `NAME.part`, with the record of an image of `total` bytes.
    func leavePartial(
        _ path: String, _ bytes: some Sequence<UInt8>, of total: Int, etag: String = "\"1\""
    ) throws {
        try leavePartial(of: try imageRequest(path).key, bytes, of: total, etag: etag)
    }

    func leavePartial(
        of key: CacheKey, _ bytes: some Sequence<UInt8>, of total: Int, etag: String = "\"1\""
    ) throws {
        let file = cache.path(of: key) + ".part"
        try write(Array(bytes), to: file)
        try setPartialRecord("v1 total=\(total) boot=\(BootID.current) etag=\(etag)", of: file)
    }

    func setPartialRecord(_ text: String, of file: String) throws {
        try ExtendedAttributes(of: file).set(PartialRecord.attributeName, text)
    }

    /// Whether anything exists under the partial's name.
    func hasPartial(_ path: String) throws -> Bool {
        var status = stat()
        return lstat(try partial(path), &status) == 0
    }

    /// Expects a complete entry for `/a.png`, and no partial.
    func expectEntry(_ image: [UInt8]) throws {
        #expect(try contents(of: file("/a.png")) == image)
        #expect(try !hasPartial("/a.png"))
        var digest = SHA256()
        image.withUnsafeBytes { digest.update($0) }
        #expect(cache.details(of: try imageRequest("/a.png").key).sha256 == digest.finish())
        let attributes = ExtendedAttributes(of: try file("/a.png"))
        #expect(try attributes[PartialRecord.attributeName] == nil)
        guard case .cached(let facts, _, _) = try lookup("/a.png") else {
            Issue.record("the image is not cached")
            return
        }
        #expect(facts.size == image.count)
        #expect(facts.mediaType == .png)
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        guard descriptor >= 0 else { throw TestFailure("\(path) can't be opened") }
        defer { close(descriptor) }
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw TestFailure("\(path) can't be written")
        }
    }
}

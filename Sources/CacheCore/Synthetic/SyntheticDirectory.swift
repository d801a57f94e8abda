import CLinux
internal import CacheKey
internal import SystemPackage

/// A directory of entries nobody fetched, published as downloads are, to measure eviction.
package struct SyntheticDirectory {
    private let directory: CacheDirectory

    /// Opens or makes the directory; fails while a daemon holds it, and where no attributes are kept.
    package init(path: String) throws(CacheError) {
        directory = try CacheDirectory(path: path, mode: 0o700, kernel: Kernel())
        guard directory.keepsAttributes else {
            throw CacheError(.unsupported, "the file system of \(path) keeps no user attributes")
        }
    }

    /// Publishes so many entries of so many bytes. The order of their use is that of their numbers.
    package func fill(count: Int, bytes: Int) throws {
        let content = [UInt8](repeating: 0xA5, count: bytes)
        for start in stride(from: 0, to: count, by: PublishQueue.largestBatch) {
            let end = min(start + PublishQueue.largestBatch, count)
            let batch = try (start..<end).map { try stage($0, content) }
            for publication in directory.publish(batch, now: .now, sync: .fileSystem) {
                _ = try publication.result.get()
            }
        }
    }

    private func stage(_ number: Int, _ content: [UInt8]) throws -> StagedImage {
        let url = try Self.url(number)
        let key = CacheKey(url)
        let file = try directory.stage(key)
        try content.withUnsafeBytes { try file.append($0) }
        let record = EntryRecord(
            size: Int64(content.count), mediaType: .png, width: 85, height: 86,
            fetchedAt: FileTime.now.unixTime, freshUntil: nil,
            validators: Validators(entityTag: "\"\(number)\""), isPinned: false)
        return StagedImage(
            flight: FlightID(rawValue: UInt64(number)), key: key,
            body: .file(file, ContentDigest(of: content)), url: url, record: record)
    }

    private static func url(_ number: Int) throws(InvalidURL) -> CacheURL {
        try CacheURL("http://127.0.0.1/synthetic/\(number).png")
    }

    /// The names of the first so many entries, in the order of their use.
    package static func names(count: Int) throws -> [String] {
        try (0..<count).map { CacheKey(try url($0)).description }
    }
}

internal import CacheKey

/// A whole, checked image that waits to be published. It goes through many hands, which share it.
final class StagedImage: Sendable {
    let flight: FlightID
    let key: CacheKey
    let body: StagedBody
    let url: CacheURL
    /// Becomes the entry's record; its size is the number of bytes.
    let record: EntryRecord

    init(
        flight: FlightID, key: CacheKey, body: StagedBody, url: CacheURL, record: EntryRecord
    ) {
        (self.flight, self.key, self.body) = (flight, key, body)
        (self.url, self.record) = (url, record)
    }
}

/// Where the bytes of an image are before it is published.
enum StagedBody: Sendable {
    /// In memory; their digest is computed on the way to their file.
    case bytes([UInt8])
    /// In its partial.
    case file(StagingFile, ContentDigest)
}

/// Where the bytes of an image are while they arrive.
enum ReceivedBody {
    /// In memory, all that came so far.
    case bytes([UInt8])
    /// In its partial.
    case file(StagingFile)

    var file: StagingFile? {
        if case .file(let file) = self { file } else { nil }
    }

    /// Adds bytes to those in memory; `false` where they are not, or would become more than `limit`.
    mutating func held(_ more: UnsafeRawBufferPointer, atMost limit: Int) -> Bool {
        guard case .bytes(var bytes) = self, bytes.count + more.count <= limit else { return false }
        // Nobody else may have the array that grows.
        self = .bytes([])
        bytes.append(contentsOf: more)
        self = .bytes(bytes)
        return true
    }
}

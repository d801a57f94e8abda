import CacheValues

/// Where the bytes of a whole image are until it is published.
enum StagedBody: Sendable {
    /// In memory. Their digest is computed when they are written to a file.
    case bytes([UInt8])
    /// In a file.
    case file(StagingFile, ContentDigest)
}

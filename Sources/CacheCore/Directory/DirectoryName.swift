internal import CacheKey

/// A name in the directory that is the cache's own; all others are strangers'.
enum DirectoryName: Hashable, Sendable, CustomStringConvertible {
    /// `KEY`, where an entry lies.
    case entry(CacheKey)
    /// `KEY.part`, where a download grows or rests.
    case partial(CacheKey)

    /// A staged download's name is its entry's with this behind it.
    static let partialSuffix = ".part"

    /// The file name.
    var description: String {
        switch self {
        case .entry(let key): key.description
        case .partial(let key): key.description + Self.partialSuffix
        }
    }

    /// Parses the bytes of a file name; `nil` for a stranger's.
    init?(_ bytes: UnsafeRawBufferPointer) {
        if let key = CacheKey(name: bytes) {
            self = .entry(key)
            return
        }
        let suffix = Self.partialSuffix.utf8
        guard bytes.count == CacheKey.nameLength + suffix.count,
            bytes[CacheKey.nameLength...].elementsEqual(suffix),
            let key = CacheKey(
                name: UnsafeRawBufferPointer(rebasing: bytes[..<CacheKey.nameLength]))
        else { return nil }
        self = .partial(key)
    }
}

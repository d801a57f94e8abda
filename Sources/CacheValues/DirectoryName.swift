package import CacheKey

/// A file name in the cache directory that belongs to the cache. All other names belong to other programs.
package enum DirectoryName: Hashable, Sendable, CustomStringConvertible {
    /// `KEY`, the file of an entry.
    case entry(CacheKey)
    /// `KEY.part`, the file of a download that is running or interrupted.
    case partial(CacheKey)

    /// The suffix that turns the name of an entry into the name of its partial download.
    package static let partialSuffix = ".part"

    /// The file name.
    package var description: String {
        switch self {
        case .entry(let key): key.description
        case .partial(let key): key.description + Self.partialSuffix
        }
    }

    /// Parses the bytes of a file name. `nil` if the name is not the cache's own.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= CacheKey.nameLength,
            let key = CacheKey(
                name: UnsafeRawBufferPointer(rebasing: bytes[..<CacheKey.nameLength]))
        else { return nil }
        let suffix = bytes[CacheKey.nameLength...]
        if suffix.isEmpty {
            self = .entry(key)
        } else if suffix.elementsEqual(Self.partialSuffix.utf8) {
            self = .partial(key)
        } else {
            return nil
        }
    }
}

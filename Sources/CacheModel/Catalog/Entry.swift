internal import CacheKey
internal import ImageFormats

/// The part of one entry that stays in memory, in 64 bytes. The digest, URL and validators stay in
/// the file.
struct Entry {
    let key: CacheKey
    /// Bytes of the image.
    var size: Int64
    /// Nanoseconds since 1970.
    var lastUsedAt: Int64
    /// Disk blocks of 512 bytes, attributes included.
    var blocks: UInt32
    /// Zero when unknown.
    var freshUntil: UInt32
    var fetchedAt: UInt32
    /// Pixels; zero when unknown.
    var width: UInt32
    var height: UInt32
    /// Neighbours in the order of use; `Index.none` at the ends.
    var older: UInt32
    var newer: UInt32
    var mediaType: MediaType
    var isPinned: Bool
    /// Whether it was used since its access time was last written to its file.
    var isTouched = false
    /// Whether the place holds an entry. `false` for a free place that can get a new entry.
    var isOccupied = true

    init(_ key: CacheKey, _ facts: EntryFacts) {
        self.key = key
        size = facts.size
        blocks = UInt32(clamping: facts.allocated / 512)
        freshUntil = facts.freshUntil?.rawValue ?? 0
        fetchedAt = facts.fetchedAt.rawValue
        lastUsedAt = facts.lastUsedAt.nanoseconds
        width = UInt32(clamping: facts.width ?? 0)
        height = UInt32(clamping: facts.height ?? 0)
        older = Index.none
        newer = Index.none
        mediaType = facts.mediaType
        isPinned = facts.isPinned
    }

    /// Bytes that the disk holds for the entry.
    var allocated: Int64 { Int64(blocks) * 512 }

    var facts: EntryFacts {
        EntryFacts(
            size: size, allocated: allocated, mediaType: mediaType,
            width: width == 0 ? nil : Int(width), height: height == 0 ? nil : Int(height),
            fetchedAt: UnixTime(rawValue: fetchedAt),
            freshUntil: freshUntil == 0 ? nil : UnixTime(rawValue: freshUntil),
            lastUsedAt: FileTime(nanoseconds: lastUsedAt), isPinned: isPinned)
    }
}

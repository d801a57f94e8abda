internal import CacheKey
internal import ImageFormats

/// What memory holds of one entry, 64 bytes of it; digest, URL and validators stay with the file.
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
    /// Used since its file was last told.
    var isTouched = false
    /// `false` in a place that was given back and waits for its next entry.
    var isDetached = true

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

    /// Bytes the disk holds for it.
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

/// What lies under a name of the directory, found out without opening it.
enum EntryProbe: Hashable, Sendable {
    /// A whole image of ours, or one copied in where attributes can't be kept.
    case entry(EntryFacts)
    /// Nothing.
    case absent
    /// Something that is no entry: copied in without attributes, of another size than its record
    /// says, empty, somebody else's, a link, FIFO, socket or device. A fetch renames over it.
    case unusable
    /// A directory, over which nothing can be renamed.
    case obstructed
}

/// What the index keeps of an entry.
public struct EntryFacts: Hashable, Sendable {
    /// Bytes of the image.
    public var size: Int64
    /// Bytes the disk holds for it, in blocks of 512, attributes included. stat(2), `st_blocks`.
    public var allocated: Int64
    public var mediaType: MediaType
    public var width: Int?
    public var height: Int?
    public var fetchedAt: UnixTime
    public var freshUntil: UnixTime?
    public var lastUsedAt: FileTime
    public var isPinned: Bool
    /// When an image that may not be kept has to go. The index does not keep it.
    var removeAt: UnixTime?
}

extension EntryFacts {
    init(record: EntryRecord, allocated: Int64, lastUsedAt: FileTime) {
        self.init(
            size: record.size, allocated: allocated, mediaType: record.mediaType,
            width: record.width, height: record.height, fetchedAt: record.fetchedAt,
            freshUntil: record.freshUntil, lastUsedAt: lastUsedAt, isPinned: record.isPinned,
            removeAt: record.removeAt)
    }
}

public import ImageFormats

/// The facts about an entry that the index keeps.
///
///     if case .cached(let facts, _, _) = lookup { print(facts.mediaType.name, facts.size) }
public struct EntryFacts: Hashable, Sendable {
    /// Bytes of the image.
    public var size: Int64
    /// Bytes that the disk holds for the entry, in blocks of 512, attributes included. stat(2), `st_blocks`.
    public var allocated: Int64
    /// The type of the image, determined from its bytes.
    public var mediaType: MediaType
    /// Pixels as a viewer shows them. `nil` if they are not known.
    public var width: Int?
    /// Pixels as a viewer shows them. `nil` if they are not known.
    public var height: Int?
    /// How a viewer turns the stored pixels.
    public var orientation: Orientation
    /// When the bytes were last received from the origin.
    public var fetchedAt: UnixTime
    /// The time until which the image can be used without asking the origin. `nil` if no record says it.
    public var freshUntil: UnixTime?
    /// When the entry was last used.
    public var lastUsedAt: FileTime
    /// Whether the user has pinned the entry, which protects it from eviction.
    public var isPinned: Bool
    /// When an image that must not be stored is removed. The index does not keep this time.
    package var removeAt: UnixTime?
    /// The number of the inode. 0 if it is not known, or the file is on another file system than the directory.
    package var inode: UInt64
    /// Whether the file has several hard links, so that other names of the directory can lead to it too.
    package var isLinked: Bool
    /// The first bytes of the digest, see ``ContentDigest/prefix``. 0 if the record does not have them.
    package var digestPrefix: UInt32
    /// Whether the file has nothing but its record: no URL, no validators.
    package var awaitsAttributes: Bool
    /// Whether the image was evicted before it was used, and came back. Only the index knows that.
    package var hasReturned: Bool

    /// Whether the origin is asked before the entry is used again. A time of fetching in the future comes from a
    /// wrong clock.
    public func isStale(at now: UnixTime) -> Bool {
        freshUntil.map { $0 <= now || fetchedAt > now } ?? false
    }

    package init(
        size: Int64, allocated: Int64, mediaType: MediaType, width: Int?, height: Int?,
        orientation: Orientation = .upright, fetchedAt: UnixTime, freshUntil: UnixTime? = nil,
        lastUsedAt: FileTime, isPinned: Bool, removeAt: UnixTime? = nil, inode: UInt64 = 0,
        isLinked: Bool = false,
        digestPrefix: UInt32 = 0, awaitsAttributes: Bool = false, hasReturned: Bool = false
    ) {
        self.size = size
        self.allocated = allocated
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.orientation = orientation
        self.fetchedAt = fetchedAt
        self.freshUntil = freshUntil
        self.lastUsedAt = lastUsedAt
        self.isPinned = isPinned
        self.removeAt = removeAt
        self.inode = inode
        self.isLinked = isLinked
        self.digestPrefix = digestPrefix
        self.awaitsAttributes = awaitsAttributes
        self.hasReturned = hasReturned
    }
}

package import CacheValues
import ImageFormats

extension EntryFacts {
    /// The facts of an entry from its record and its inode.
    package init(
        record: EntryRecord, allocated: Int64, lastUsedAt: FileTime, inode: UInt64 = 0,
        isLinked: Bool = false
    ) {
        self.init(
            size: record.size, allocated: allocated, mediaType: record.mediaType,
            width: record.width, height: record.height, orientation: record.orientation,
            fetchedAt: record.fetchedAt, freshUntil: record.freshUntil, lastUsedAt: lastUsedAt,
            isPinned: record.isPinned,
            removeAt: record.removeAt, inode: inode, isLinked: isLinked,
            digestPrefix: record.digestPrefix, awaitsAttributes: record.awaitsAttributes)
    }
}

extension EntryFacts {
    init(record: EntryRecord, allocated: Int64, lastUsedAt: FileTime) {
        self.init(
            size: record.size, allocated: allocated, mediaType: record.mediaType,
            width: record.width, height: record.height, fetchedAt: record.fetchedAt,
            freshUntil: record.freshUntil, lastUsedAt: lastUsedAt, isPinned: record.isPinned,
            removeAt: record.removeAt)
    }
}

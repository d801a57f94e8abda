package import CacheValues

extension EntryFacts {
    /// Whether both look the same to an observer. A use and a change in disk blocks are not reported, and neither is
    /// which file holds the bytes and which attributes it has.
    package func saysTheSame(as other: EntryFacts) -> Bool {
        var same = other
        (same.allocated, same.lastUsedAt, same.removeAt) = (allocated, lastUsedAt, removeAt)
        (same.inode, same.isLinked, same.digestPrefix) = (inode, isLinked, digestPrefix)
        (same.awaitsAttributes, same.hasReturned) = (awaitsAttributes, hasReturned)
        return self == same
    }
}

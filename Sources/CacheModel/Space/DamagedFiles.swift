package import CacheKey

/// A damaged file that a verification has set aside.
package struct DamagedFile: Hashable, Sendable {
    /// Bytes that the disk holds for it.
    package let allocated: Int64
    /// Whether it holds the pin of its image. Such a file is never evicted, and it does not become too old.
    package let isPinned: Bool

    package init(allocated: Int64, isPinned: Bool) {
        (self.allocated, self.isPinned) = (allocated, isPinned)
    }
}

/// The damaged files of the directory.
package struct DamagedFiles: Sendable {
    package var files = SideFiles()
    /// The keys of those that hold a pin.
    package private(set) var pinned: Set<CacheKey> = []

    /// The file of a key. `nil` if there is none.
    package subscript(key: CacheKey) -> DamagedFile? {
        get { files[key].map { DamagedFile(allocated: $0, isPinned: pinned.contains(key)) } }
        set {
            files[key] = newValue?.allocated
            if newValue?.isPinned == true { pinned.insert(key) } else { pinned.remove(key) }
        }
    }

    /// Bytes of those that hold a pin.
    package var pinnedBytes: Int64 { pinned.reduce(0) { $0 + (files[$1] ?? 0) } }

    /// The keys of those that can be evicted.
    package var evictable: some Sequence<CacheKey> {
        files.keys.lazy.filter { [pinned] in !pinned.contains($0) }
    }

    package func checkInvariants() {
        files.checkInvariants()
        precondition(pinned.allSatisfy { files[$0] != nil }, "a pin belongs to no damaged file")
    }
}

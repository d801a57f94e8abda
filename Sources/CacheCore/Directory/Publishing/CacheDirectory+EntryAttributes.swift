internal import CacheKey
internal import SystemPackage

/// Writing the attributes of an entry.
extension CacheDirectory {
    /// Writes all attributes, the record first, because a file without one is no entry. If the inode has no room
    /// for all of them, the validators are left out; if even then the URL has no room, it is left out instead. That
    /// room is one block of an inode and says nothing about the disk.
    func writeAttributes(
        of image: BatchImage, _ digest: ContentDigest, _ staged: StagingFile
    ) throws(Errno) {
        guard keepsAttributes else { return try markIfUnstorable(image.record, image.key) }
        let file = staged.descriptor
        for name in staged.partialAttributes { try remove(name, file) }
        let name = EntryRecord.attributeName(of: image.key)
        if try !fits(name, image.record.text, file) { try set(name, image.bareRecord, file) }
        try set(EntryAttributes.sha256, digest.description, file)
        try set(EntryAttributes.mediaType, image.record.mediaType.name, file)
        guard try !fits(EntryAttributes.url, image.url.string, file) else { return }
        try set(name, image.bareRecord, file)
        if try !fits(EntryAttributes.url, image.url.string, file) {
            _ = try fits(name, image.record.text, file)
        }
    }

    /// Removes an attribute of a partial. A second try finds it gone. Only a record could mislead anyone later.
    private func remove(_ name: String, _ file: Int32) throws(Errno) {
        do {
            try kernel.removeAttribute(name, of: file)
        } catch  where error == .noData || name == EntryAttributes.total {
            return
        }
    }

    /// Sets an attribute; returns `false` if the inode has no room for it.
    private func fits(_ name: String, _ value: String, _ file: Int32) throws(Errno) -> Bool {
        do {
            try set(name, value, file)
            return true
        } catch .noSpace {
            return false
        }
    }

    private func set(_ name: String, _ value: String, _ file: Int32) throws(Errno) {
        try kernel.setAttribute(name, value, of: file)
    }
}

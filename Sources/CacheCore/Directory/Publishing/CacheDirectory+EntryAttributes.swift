internal import CacheKey
internal import SystemPackage

/// Writing the attributes of an entry.
extension CacheDirectory {
    /// Writes all attributes, the record first: ext4 keeps in the inode what comes first and fits, so a scan reads no
    /// other block. If there is no room for all of them, the validators are left out; if even then the URL has no
    /// room, it is left out instead. That room is one block of an inode and says nothing about the disk.
    func writeAttributes(
        of image: BatchImage, _ digest: ContentDigest, _ staged: StagingFile
    ) throws(Errno) {
        guard keepsAttributes else { return try markIfUnstorable(image.record, image.key) }
        let file = staged.descriptor
        for name in staged.partialAttributes { try remove(name, file) }
        try kernel.setAttribute(
            EntryRecord.attributeName(of: image.key), image.record.bytes, of: file)
        let validators = ValidatorRecord(
            digest: digest.description, validators: image.record.validators)
        let name = ValidatorRecord.attributeName(of: image.key)
        if try !fits(name, validators.text, file) { try set(name, validators.bare.text, file) }
        try set(EntryAttributes.mediaType, image.record.mediaType.name, file)
        guard try !fits(EntryAttributes.url, image.url.string, file) else { return }
        try set(name, validators.bare.text, file)
        if try !fits(EntryAttributes.url, image.url.string, file) {
            _ = try fits(name, validators.text, file)
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

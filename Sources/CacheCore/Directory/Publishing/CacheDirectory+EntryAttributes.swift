internal import CacheKey
import CacheValues
import HTTPCaching
import ImageFormats
internal import SystemPackage

/// Writing the attributes of an entry.
extension CacheDirectory {
    /// Writes all attributes, the record first: ext4 keeps in the inode what comes first and fits, so a scan reads no
    /// other block. If there is no room for all of them, the validators are left out; if even then the URL has no
    /// room, it is left out instead. That room is one block of an inode and says nothing about the disk.
    func writeAttributes(
        of image: StagedImage, _ digest: ContentDigest, _ staged: StagingFile
    ) throws(Errno) {
        let file = staged.descriptor
        for name in staged.partialAttributes { try remove(name, file) }
        try kernel.setAttribute(
            EntryRecord.attributeName(of: image.key), image.record.bytes, of: file)
        let validators = ValidatorRecord(
            digest: digest.description, validators: image.record.validators)
        let name = ValidatorRecord.attributeName(of: image.key)
        if try !fits(name, validators.text, file) { try set(name, validators.bare.text, file) }
        try set(EntryAttributes.mediaType, image.record.mediaType.name, file)
        let url = image.namingURL.string
        if try !fits(EntryAttributes.url, url, file) {
            try set(name, validators.bare.text, file)
            if try !fits(EntryAttributes.url, url, file) {
                _ = try fits(name, validators.text, file)
            }
        }
        if image.namingURL != image.url {
            _ = try fits(EntryAttributes.source(of: image.key), image.url.string, file)
        }
    }

    /// Writes the attributes of another name of a file. The media type is that of the file. Its digest is kept once,
    /// for all names, because the room for attributes limits how many names a file can have.
    func writeAttributes(
        of image: StagedImage, _ digest: ContentDigest, toOriginal file: Int32
    ) throws(Errno) {
        if try attribute(EntryAttributes.fileDigest, of: .open(file)) == nil {
            try set(EntryAttributes.fileDigest, digest.description, file)
        }
        try kernel.setAttribute(
            EntryRecord.attributeName(of: image.key), image.record.bytes, of: file)
        let validators = ValidatorRecord(digest: nil, validators: image.record.validators)
        try set(ValidatorRecord.attributeName(of: image.key), validators.text, file)
        let url = image.namingURL.string
        if try self.url(of: image.key, .open(file)) != url {
            try set(EntryAttributes.url(of: image.key), url, file)
        }
        let source = image.namingURL == image.url ? nil : image.url.string
        try writeSource(source, of: image.key, file)
    }

    /// Keeps the URL that an image was downloaded from, if another URL names it.
    func writeSource(_ url: String?, of key: CacheKey, _ file: Int32) throws(Errno) {
        let name = EntryAttributes.source(of: key)
        if let url {
            try set(name, url, file)
        } else if try attribute(name, of: .open(file)) != nil {
            try kernel.removeAttribute(name, of: file)
        }
    }

    /// Removes the attributes of a name that does not lead to a file any more, which has other names. If it was the
    /// first one, the URL of the file goes with it. A failure leaves attributes that nobody reads.
    func removeAttributes(of key: CacheKey, from file: ReferredFile) {
        let record = EntryRecord.attributeName(of: key)
        var names = [
            record, ValidatorRecord.attributeName(of: key), EntryAttributes.source(of: key),
        ]
        let own = EntryAttributes.url(of: key)
        names.append(file.hasAttribute(own, kernel) ? own : EntryAttributes.url)
        for name in names {
            ifPossible { () throws(Errno) in
                try kernel.removeAttribute(name, ofReferred: file.descriptor)
            }
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

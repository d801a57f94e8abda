import CLinux
internal import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import ImageFormats
internal import SystemPackage

/// Writing the attributes of an entry.
extension CacheDirectory {
    /// Writes the record of an image, alone: ext4 keeps in the inode what comes first and fits, so a scan reads no other
    /// block. The other attributes follow its publication.
    func writeRecord(of image: StagedImage, _ file: StagingFile) throws(Errno) {
        for name in file.partialAttributes { try remove(name, file.descriptor) }
        try kernel.setAttribute(
            EntryRecord.attributeName(of: image.key), image.record.bytes, of: file.descriptor)
    }

    /// Writes the attributes that the file of an entry still lacks, if it lacks any. Like every change of attributes,
    /// this runs on the directory's thread. If it fails, the record goes on to say that they are missing.
    func writeAttributes(of key: CacheKey) {
        guard let member = unwritten[key] else { return }
        ifPossible { () throws(Errno) in try write(member, of: key) }
        unwritten.remove(key, of: member.file)
    }

    /// Writes the attributes of an image that is about to be published, before further names of its file take their room.
    func writeAttributes(of image: StagedImage, _ file: StagingFile) {
        guard let attributes = image.unwritten else { return }
        ifPossible { () throws(Errno) in
            guard try attribute(EntryAttributes.url, of: .open(file.descriptor)) == nil else {
                return
            }
            let copy = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { return }
            try write(attributes, of: image.key, ReferredFile(copy))
        }
    }

    /// Writes the attributes of an entry that an earlier daemon, which was killed, has left with its record alone. Its
    /// validators are lost.
    func complete(_ entry: OpenedEntry, from url: CacheURL, named name: CacheURL) {
        let key = entry.key
        ifPossible { () throws(Errno) in
            guard let record = try record(of: key), record.awaitsAttributes,
                let bytes = bytes(of: entry, record.size)
            else { return }
            let digest = ContentDigest(of: bytes)
            guard digest.prefix == record.digestPrefix, CacheKey(name) == key else { return }
            let attributes = FurtherAttributes(
                mediaType: record.mediaType, digest: digest, validators: Validators(), name: name,
                url: url)
            let file = Identity(try kernel.status(of: entry.descriptor))
            try write(UnwrittenAttributes.Member(file: file, attributes: attributes), of: key)
        }
    }

    /// If another file has the name now, it is left alone. The flag in the record is cleared last.
    private func write(_ member: UnwrittenAttributes.Member, of key: CacheKey) throws(Errno) {
        let file = ReferredFile(try kernel.open(key.description, in: descriptor, clinux_o_path))
        guard Identity(try kernel.status(of: file.descriptor)) == member.file,
            var record = try record(of: key), record.awaitsAttributes
        else { return }
        try write(member.attributes, of: key, file)
        record.awaitsAttributes = false
        try kernel.setAttribute(
            EntryRecord.attributeName(of: key), record.bytes, ofReferred: file.path)
    }

    /// If there is no room for all of them, the validators are left out; if even then the URL has no room, it is left
    /// out instead. That room is one block of an inode and says nothing about the disk.
    private func write(
        _ attributes: FurtherAttributes, of key: CacheKey, _ file: ReferredFile
    ) throws(Errno) {
        let validators = ValidatorRecord(
            digest: attributes.digest.description, validators: attributes.validators)
        let name = ValidatorRecord.attributeName(of: key)
        if try !fits(name, validators.text, file) { try set(name, validators.bare.text, file) }
        try set(EntryAttributes.mediaType, attributes.mediaType.name, file)
        let url = attributes.name.string
        if try !fits(EntryAttributes.url, url, file) {
            try set(name, validators.bare.text, file)
            if try !fits(EntryAttributes.url, url, file) {
                _ = try fits(name, validators.text, file)
            }
        }
        if attributes.name != attributes.url {
            _ = try fits(EntryAttributes.source(of: key), attributes.url.string, file)
        }
    }

    /// Writes the attributes of another name of a file. Its media type and its digest are kept once, for all names, because the room for attributes limits how many names a file can have.
    func writeAttributes(
        of image: StagedImage, _ digest: ContentDigest, toOriginal file: Int32
    ) throws(Errno) {
        // Its own name can lead to the file already.
        writeAttributes(of: image.key)
        let ofAllNames = [
            (EntryAttributes.fileDigest, digest.description),
            (EntryAttributes.mediaType, image.record.mediaType.name),
        ]
        for (name, value) in ofAllNames where try attribute(name, of: .open(file)) == nil {
            try set(name, value, file)
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
                try kernel.removeAttribute(name, ofReferred: file.path)
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
    private func fits(
        _ name: String, _ value: String, _ file: ReferredFile
    ) throws(Errno) -> Bool {
        do {
            try set(name, value, file)
            return true
        } catch .noSpace {
            return false
        }
    }

    private func set(_ name: String, _ value: String, _ file: ReferredFile) throws(Errno) {
        try kernel.setAttribute(name, Array(value.utf8), ofReferred: file.path)
    }

    private func set(_ name: String, _ value: String, _ file: Int32) throws(Errno) {
        try kernel.setAttribute(name, value, of: file)
    }
}

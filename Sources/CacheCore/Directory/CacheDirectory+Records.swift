internal import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import ImageFormats
internal import SystemPackage

/// The records of entries: reading them, and writing them again.
extension CacheDirectory {
    // MARK: Reading

    /// The record of an entry, without its validators; `nil` if there is no valid one. getxattr(2).
    func record(of key: CacheKey, name: String) throws(Errno) -> EntryRecord? {
        guard keepsAttributes else { return try recordInMemory(of: key) }
        return try withRecord(of: key, name: name) { EntryRecord($0) } ?? nil
    }

    /// The record of the entry with the name of `key`, with its validators; `nil` if there is no entry, or it can't
    /// be probed.
    func entryRecord(of key: CacheKey) -> EntryRecord? {
        do {
            guard case .success((var record, _))? = try find(key, name: key.description) else {
                return nil
            }
            if keepsAttributes {
                record.validators = try validatorRecord(of: key)?.validators ?? Validators()
            }
            return record
        } catch {
            return nil
        }
    }

    /// Calls `body` with the attribute of a record. `nil` if there is none.
    func withRecord<Result>(
        of key: CacheKey, name: String, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(Errno) -> Result? {
        try withAttribute(
            EntryRecord.attributeName(of: key), of: name,
            upTo: EntryAttributes.maximumRecordLength, body)
    }

    /// Whether an entry has a record of an older version.
    func hasOldVersion(_ key: CacheKey) -> Bool {
        do {
            return try withRecord(of: key, name: key.description) {
                EntryRecord.isOldVersion($0)
            } == true
        } catch {
            return false
        }
    }

    private func validatorRecord(of key: CacheKey) throws(Errno) -> ValidatorRecord? {
        try withAttribute(
            ValidatorRecord.attributeName(of: key), of: key.description,
            upTo: EntryAttributes.maximumRecordLength
        ) { ValidatorRecord($0) } ?? nil
    }

    private func validatorRecord(
        of key: CacheKey, _ file: Int32
    ) throws(Errno) -> ValidatorRecord? {
        try withAttribute(ValidatorRecord.attributeName(of: key), of: file) { ValidatorRecord($0) }
            ?? nil
    }

    /// The SHA-256 of the bytes of an entry as they were fetched; `nil` if it is missing or damaged.
    func digest(of key: CacheKey) throws(Errno) -> ContentDigest? {
        let digits =
            if let own = try validatorRecord(of: key)?.digest { own } else {
                try attribute(EntryAttributes.fileDigest, of: key)
            }
        return digits.flatMap { ContentDigest($0) }
    }

    /// The same for an open file.
    func digest(of key: CacheKey, _ file: Int32) throws(Errno) -> ContentDigest? {
        let digits =
            if let own = try validatorRecord(of: key, file)?.digest { own } else {
                try attribute(EntryAttributes.fileDigest, of: file)
            }
        return digits.flatMap { ContentDigest($0) }
    }

    /// The type and the size in pixels that the bytes of an open file show. Bytes behind those are not read.
    func report(of file: Int32) throws(Errno) -> ImageReport {
        try withTemporaryBuffer(64 << 10) { (buffer) throws(Errno) -> ImageReport in
            var (inspector, position) = (ImageInspector(), Int64(0))
            while inspector.shape?.width == nil, inspector.mediaType?.isRaster != false {
                let count = try kernel.read(file, at: position, into: buffer)
                guard count > 0 else { break }
                inspector.consume(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                position += Int64(count)
            }
            return inspector.finish()
        }
    }

    // MARK: Writing

    /// Writes into an open entry that the origin has just confirmed it. The change is not synced: if a power
    /// failure loses it, the origin is asked once more.
    ///
    /// - Parameter asked: the record that the request was about.
    /// - Returns: `false` if the file has another response now.
    func confirm(
        _ asked: EntryRecord, by record: EntryRecord, of key: CacheKey, _ file: Int32
    ) throws(Errno) -> Bool {
        guard keepsAttributes else { return try confirmInMemory(asked, by: record, of: key, file) }
        let name = EntryRecord.attributeName(of: key)
        let stored = try withAttribute(name, of: file) { EntryRecord($0) } ?? nil
        guard let stored, stored.isSameResponse(as: asked) else { return false }
        // A record with a digest is that of one image, so its validators need no look.
        if stored.digestPrefix == 0 {
            let validators = try validatorRecord(of: key, file)?.validators ?? Validators()
            guard validators == asked.validators else { return false }
        }
        try kernel.setModificationTime(.now, of: file)
        if record.lacksSize {
            try rewrite(record, of: key, file)
        } else {
            try kernel.setAttribute(name, record.bytes, of: file)
        }
        // The old ones agree with the new ones, so nothing is wrong if the daemon is killed here.
        if record.validators != asked.validators {
            try rewrite(record.validators, of: key, file)
        }
        return true
    }

    private func confirmInMemory(
        _ asked: EntryRecord, by record: EntryRecord, of key: CacheKey, _ file: Int32
    ) throws(Errno) -> Bool {
        let old = recordInMemory(of: key, seenAs: try kernel.status(of: file))
        guard old.isSameResponse(as: asked), old.validators == asked.validators else {
            return false
        }
        // In this order: a record in memory is about the file as it is now.
        try kernel.setModificationTime(.now, of: file)
        try remember(record, of: key, file)
        return true
    }

    /// Replaces the record of an entry, but not its validators. fsetxattr(2).
    ///
    /// If the record lacks the size, because an older version had another one, the bytes tell it.
    func rewrite(_ record: EntryRecord, of key: CacheKey, _ file: Int32) throws(Errno) {
        guard keepsAttributes else { return try remember(record, of: key, file) }
        var record = record
        if record.lacksSize { record.takeSize(try report(of: file)) }
        try kernel.setAttribute(EntryRecord.attributeName(of: key), record.bytes, of: file)
    }

    /// Writes the record of an opened entry again, so that it is one of the newest version.
    func renewRecord(_ entry: OpenedEntry) throws(Errno) {
        guard isInPlace(entry), let record = try record(of: entry.key, name: entry.key.description)
        else { return }
        try rewrite(record, of: entry.key, entry.descriptor)
    }

    /// Replaces the validators of an entry.
    func rewrite(_ validators: Validators, of key: CacheKey, _ file: Int32) throws(Errno) {
        guard keepsAttributes else { return }
        // A file with several names has its digest in an attribute of its own.
        let digest = try validatorRecord(of: key, file)?.digest
        let record = ValidatorRecord(digest: digest, validators: validators)
        let name = ValidatorRecord.attributeName(of: key)
        do {
            try kernel.setAttribute(name, record.text, of: file)
        } catch .noSpace {
            // The inode has one block for attributes, and that is full, not the disk.
            try kernel.setAttribute(name, record.bare.text, of: file)
        }
    }
}

extension EntryRecord {
    /// Whether both records belong to the same stored response, as far as they tell without validators.
    fileprivate func isSameResponse(as other: EntryRecord) -> Bool {
        size == other.size && fetchedAt == other.fetchedAt && digestPrefix == other.digestPrefix
    }
}

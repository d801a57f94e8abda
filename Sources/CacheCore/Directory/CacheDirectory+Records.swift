internal import CacheKey
import CacheValues
import Glibc
import HTTPCaching
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
            // A record of the first version has its validators.
            if keepsAttributes, record.validators == Validators() {
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

    /// Whether an entry has a record of the first version.
    func hasFirstVersion(_ key: CacheKey) -> Bool {
        do {
            return try withRecord(of: key, name: key.description) {
                EntryRecord.isFirstVersion($0)
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
        try Self.digest(
            { () throws(Errno) in try validatorRecord(of: key) },
            first: { () throws(Errno) in try attribute(EntryAttributes.fileDigest, of: key) })
    }

    /// The same for an open file.
    func digest(of key: CacheKey, _ file: Int32) throws(Errno) -> ContentDigest? {
        try Self.digest(
            { () throws(Errno) in try validatorRecord(of: key, file) },
            first: { () throws(Errno) in try attribute(EntryAttributes.fileDigest, of: file) })
    }

    /// Finds the digest where either version has it. The first attribute is read once more in case another thread
    /// has moved the digest there meanwhile.
    private static func digest(
        _ record: () throws(Errno) -> ValidatorRecord?, first: () throws(Errno) -> String?
    ) throws(Errno) -> ContentDigest? {
        let digits =
            if let digits = try record()?.digest {
                digits
            } else if let digits = try first() {
                digits
            } else {
                try record()?.digest
            }
        return digits.flatMap { ContentDigest($0) }
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
        let stored = try withAttribute(name, of: file) { bytes in
            (record: EntryRecord(bytes), isFirst: EntryRecord.isFirstVersion(bytes))
        }
        guard let stored, let old = stored.record, old.isSameResponse(as: asked) else {
            return false
        }
        // A record with a digest is that of one image, so its validators need no look.
        if !stored.isFirst, old.digestPrefix == 0 {
            let validators = try validatorRecord(of: key, file)?.validators ?? Validators()
            guard validators == asked.validators else { return false }
        }
        try kernel.setModificationTime(.now, of: file)
        if stored.isFirst {
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
    /// A record of the first version held the validators too. They get their own attribute before the record is
    /// replaced in one step, so the entry is whole whenever the daemon is killed. If the inode has no room for both,
    /// the validators are lost and the origin sends them again; the digest keeps its attribute.
    func rewrite(_ record: EntryRecord, of key: CacheKey, _ file: Int32) throws(Errno) {
        guard keepsAttributes else { return try remember(record, of: key, file) }
        let name = EntryRecord.attributeName(of: key)
        let first = try firstVersion(of: key, file)
        let isMoved = try first.map { (old) throws(Errno) in
            try movesValidators(of: old, key, file)
        }
        try kernel.setAttribute(name, record.bytes, of: file)
        if isMoved == true { try removeFileDigest(file) }
    }

    /// Writes the record of an opened entry again, so that it is one of the second version.
    func renewRecord(_ entry: OpenedEntry) throws(Errno) {
        guard isInPlace(entry), let record = entryRecord(of: entry.key) else { return }
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

    /// The record of an open file, if it is one of the first version.
    private func firstVersion(of key: CacheKey, _ file: Int32) throws(Errno) -> EntryRecord? {
        try withAttribute(EntryRecord.attributeName(of: key), of: file) { bytes in
            EntryRecord.isFirstVersion(bytes) ? EntryRecord(bytes) : nil
        } ?? nil
    }

    /// Writes the validators of a record of the first version into their own attribute. Returns `false` if the inode
    /// has no room for them.
    private func movesValidators(
        of record: EntryRecord, _ key: CacheKey, _ file: Int32
    ) throws(Errno) -> Bool {
        let digest = try digest(of: key, file)?.description
        let moved = ValidatorRecord(digest: digest, validators: record.validators)
        do {
            try kernel.setAttribute(ValidatorRecord.attributeName(of: key), moved.text, of: file)
            return true
        } catch .noSpace {
            return false
        }
    }

    /// Other names of the file may have their digest only there.
    private func removeFileDigest(_ file: Int32) throws(Errno) {
        guard try kernel.status(of: file).st_nlink == 1 else { return }
        do {
            try kernel.removeAttribute(EntryAttributes.fileDigest, of: file)
        } catch .noData {
            return
        }
    }
}

extension EntryRecord {
    /// Whether both records belong to the same stored response, as far as they tell without validators.
    fileprivate func isSameResponse(as other: EntryRecord) -> Bool {
        size == other.size && fetchedAt == other.fetchedAt && digestPrefix == other.digestPrefix
    }
}

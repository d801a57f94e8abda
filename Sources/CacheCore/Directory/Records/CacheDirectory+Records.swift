internal import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import ImageFormats
internal import SystemPackage

/// The records of entries: reading them, and writing them again.
extension CacheDirectory {
    // MARK: Reading

    /// The record of an entry, possibly without its validators; `nil` if there is no valid one. getxattr(2).
    func record(of key: CacheKey) throws(Errno) -> EntryRecord? {
        try records.record(
            of: key, .named(key.description), seenAs: nil, withValidators: false)
    }

    /// The record of the entry with the name of `key`, with its validators; `nil` if there is no entry, or it can't
    /// be probed.
    func entryRecord(of key: CacheKey) -> EntryRecord? {
        do {
            let found = try find(key, name: key.description, withValidators: true)
            return try found?.get().0
        } catch {
            return nil
        }
    }

    /// Calls `body` with the attribute of a record. `nil` if there is none.
    func withRecord<Result>(
        of key: CacheKey, _ file: FileReference, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(Errno) -> Result? {
        try withAttribute(
            EntryRecord.attributeName(of: key), of: file,
            upTo: EntryAttributes.maximumRecordLength, body)
    }

    func validatorRecord(
        of key: CacheKey, _ file: FileReference
    ) throws(Errno) -> ValidatorRecord? {
        if let unwritten = unwrittenAttributes(of: key, file) {
            return ValidatorRecord(
                digest: unwritten.digest.description, validators: unwritten.validators)
        }
        return try withAttribute(ValidatorRecord.attributeName(of: key), of: file) {
            ValidatorRecord($0)
        } ?? nil
    }

    /// The SHA-256 of the bytes of an entry as they were fetched; `nil` if it is missing or damaged.
    func digest(
        of key: CacheKey, _ open: FileReference? = nil
    ) throws(Errno) -> ContentDigest? {
        let file = open ?? .named(key.description)
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
        func stored(withValidators: Bool) throws(Errno) -> EntryRecord? {
            try records.record(
                of: key, .open(file), seenAs: nil, withValidators: withValidators)
        }
        writeAttributes(of: key)
        guard let old = try stored(withValidators: false), old.isSameResponse(as: asked) else {
            return false
        }
        var record = record
        record.awaitsAttributes = old.awaitsAttributes
        // A record with a digest is that of one image, so its validators need no look.
        if old.digestPrefix == 0 {
            guard try stored(withValidators: true)?.validators == asked.validators else {
                return false
            }
        }
        // In this order: a record in memory is about the file as it is now.
        try kernel.setModificationTime(.now, of: file)
        // The old validators agree with the new ones, so nothing is wrong if the daemon is killed between the two.
        try records.write(
            record, of: key, file, withValidators: record.validators != asked.validators)
        return true
    }
}

extension EntryRecord {
    /// Whether both records belong to the same stored response, as far as they tell without validators.
    func isSameResponse(as other: EntryRecord) -> Bool {
        size == other.size && fetchedAt == other.fetchedAt && digestPrefix == other.digestPrefix
    }
}

import CacheKey
import CacheValues
import Glibc
import HTTPCaching
internal import SystemPackage

/// Records in extended attributes of the files. xattr(7)
struct AttributeRecords: RecordStore {
    let directory: CacheDirectory
    static let limitation: String? = nil
    static let keepsDigests = true

    func opened() { directory.unwritten.removeAll() }

    func record(
        of key: CacheKey, _ file: FileReference, seenAs _: stat?, withValidators: Bool
    ) throws(Errno) -> EntryRecord? {
        guard var record = try directory.withRecord(of: key, file, { EntryRecord($0) }) ?? nil
        else { return nil }
        if let new = directory.unwritten.confirmation(of: key)?.record(over: record) {
            return new
        }
        if withValidators {
            let validators = try directory.validatorRecord(of: key, file)?.validators
            record.validators = validators ?? Validators()
        }
        return record
    }

    /// fsetxattr(2).
    func write(
        _ record: EntryRecord, of key: CacheKey, _ file: Int32, withValidators: Bool
    ) throws(Errno) {
        let name = EntryRecord.attributeName(of: key)
        try directory.kernel.setAttribute(name, record.bytes, of: file)
        if withValidators { try write(record.validators, of: key, file) }
    }

    private func write(
        _ validators: Validators, of key: CacheKey, _ file: Int32
    ) throws(Errno) {
        // A file with several names has its digest in an attribute of its own.
        let digest = try directory.validatorRecord(of: key, .open(file))?.digest
        let record = ValidatorRecord(digest: digest, validators: validators)
        let name = ValidatorRecord.attributeName(of: key)
        do {
            try directory.kernel.setAttribute(name, record.text, of: file)
        } catch .noSpace {
            // The inode has one block for attributes, and that is full, not the disk.
            try directory.kernel.setAttribute(name, record.bare.text, of: file)
        }
    }

    func setPin(_ isPinned: Bool, of key: CacheKey, _ file: Int32) throws(Errno) {
        guard let old = try directory.record(of: key) else { throw .noSuchFileOrDirectory }
        var record = old
        record.isPinned = isPinned
        try write(record, of: key, file, withValidators: false)
        do {
            try directory.kernel.synchronize(file)
        } catch {
            // The file must not claim a pin, or the lack of one, that was reported as failed.
            try write(old, of: key, file, withValidators: false)
            throw error
        }
    }

    func prepare(
        _ image: inout StagedImage, _ digest: ContentDigest, _ file: StagingFile
    ) throws(Errno) {
        image.record.awaitsAttributes = true
        image.unwritten = FurtherAttributes(
            mediaType: image.record.mediaType, digest: digest, validators: image.record.validators,
            name: image.namingURL, url: image.url)
        try directory.writeRecord(of: image, file)
    }

    func published(_ image: StagedImage, seenAs status: stat) {
        guard let attributes = image.unwritten else {
            return directory.unwritten.forget(image.key)
        }
        directory.unwritten.forget(image.key)
        let member = UnwrittenAttributes.Member(
            file: CacheDirectory.Identity(status), attributes: attributes)
        if !directory.unwritten.insert(image.key, member) {
            directory.writeAttributes(of: image.key)
        }
    }

    func removed(_ key: CacheKey) { directory.unwritten.forget(key) }

    func lost(_: [CacheKey], isUnknown _: (Int) -> Bool) -> [Int] { [] }

    func recover(_: CacheKey, _: Int32) {}
}

import CacheKey
import CacheValues
import Glibc
import HTTPCaching
internal import ImageFormats
internal import Synchronization
internal import SystemPackage

/// Records on a file system that keeps no user attributes, such as tmpfs before Linux 6.6, vfat, exFAT and some NFS.
///
/// A record is kept in memory and lost when the daemon ends. A later daemon only has the inode: it takes the time of
/// the last change for that of the download, and tells the type from the bytes. Nothing would tell it that an image
/// must not be kept. So such an image has a mark in the directory, the empty file `NAME.unstorable`.
struct MemoryRecords: RecordStore {
    private static let mark = ".unstorable"
    let directory: CacheDirectory
    private var notes: FileNotes<EntryRecord> { directory.notes }
    static let limitation: String? = """
        the file system keeps no user attributes, so the daemon forgets the records of images when \
        it ends; choose another directory if you can
        """
    static let keepsDigests = false

    /// Removes the images that an earlier daemon has marked.
    func opened() {
        ifPossible { () throws(Errno) in
            for key in try directory.keys(withSuffix: Self.mark) {
                try directory.unlinkIfPresent(key.description)
                try directory.unlinkIfPresent(key.description + Self.mark)
            }
        }
    }

    /// If the record is lost, one that says what can be known.
    func record(
        of key: CacheKey, _ file: FileReference, seenAs known: stat?, withValidators _: Bool
    ) throws(Errno) -> EntryRecord? {
        do throws(Errno) {
            let status = if let known { known } else { try directory.status(of: file) }
            return notes.note(of: key, seenAs: status) ?? lostRecord(status)
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }

    private func lostRecord(_ status: stat) -> EntryRecord {
        let changed = UnixTime(clamping: Int64(status.st_mtim.tv_sec))
        var terms = ReuseTerms()
        terms.isGuessed = true
        return EntryRecord(
            size: Int64(status.st_size), mediaType: .other, width: nil, height: nil,
            fetchedAt: changed,
            freshUntil: changed + directory.defaultFreshness.load(ordering: .relaxed),
            validators: Validators(), isPinned: false, terms: terms)
    }

    func write(
        _ record: EntryRecord, of key: CacheKey, _ file: Int32, withValidators _: Bool
    ) throws(Errno) {
        try markIfUnstorable(record, key)
        let old = notes.insert(key, try directory.status(of: .open(file)), record)
        if record.removeAt == nil, old?.removeAt != nil { unmark(key) }
    }

    func setPin(_: Bool, of _: CacheKey, _: Int32) throws(Errno) { throw .notSupported }

    func prepare(_ image: inout StagedImage, _: ContentDigest, _: StagingFile) throws(Errno) {
        try markIfUnstorable(image.record, image.key)
    }

    func published(_ image: StagedImage, seenAs _: stat) throws(Errno) {
        try write(image.record, of: image.key, image.descriptor, withValidators: true)
    }

    func removed(_ key: CacheKey) {
        if notes.remove(key)?.removeAt != nil { unmark(key) }
    }

    func lost(_ keys: [CacheKey], isUnknown: (Int) -> Bool) -> [Int] {
        keys.indices.filter { isUnknown($0) && isLost(keys[$0]) }
    }

    private func isLost(_ key: CacheKey) -> Bool {
        ifPossible { () throws(Errno) in
            notes.note(of: key, seenAs: try directory.status(of: .named(key.description))) == nil
        } == true
    }

    func recover(_ key: CacheKey, _ file: Int32) throws(Errno) {
        let status = try directory.status(of: .open(file))
        guard notes.note(of: key, seenAs: status) == nil else { return }
        var record = lostRecord(status)
        record.take(try directory.report(of: file))
        notes.insert(key, status, record)
    }

    // MARK: Images that must not be stored

    /// Marks an image that must not be kept, so that a later daemon removes it if this one is killed.
    private func markIfUnstorable(_ record: EntryRecord, _ key: CacheKey) throws(Errno) {
        guard record.removeAt != nil else { return }
        let name = key.description + Self.mark
        close(
            try directory.kernel.open(
                name, in: directory.descriptor, O_WRONLY | O_CREAT, mode: 0o644))
    }

    /// Removes the mark. If that fails, a later daemon removes the image, which costs a download.
    private func unmark(_ key: CacheKey) {
        ifPossible { () throws(Errno) in
            try directory.unlinkIfPresent(key.description + Self.mark)
        }
    }
}

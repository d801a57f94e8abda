internal import CacheKey
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
extension CacheDirectory {
    private static let mark = ".unstorable"

    /// The record of an entry; `nil` if nothing has its name.
    func recordInMemory(of key: CacheKey) throws(Errno) -> EntryRecord? {
        do {
            let status = try kernel.status(of: key.description, in: descriptor)
            return recordInMemory(of: key, seenAs: status)
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }

    /// The record of a file. If it is lost, one that says what can be known.
    func recordInMemory(of key: CacheKey, seenAs status: stat) -> EntryRecord {
        records.note(of: key, seenAs: status) ?? lostRecord(status)
    }

    private func lostRecord(_ status: stat) -> EntryRecord {
        let changed = UnixTime(clamping: Int64(status.st_mtim.tv_sec))
        var terms = ReuseTerms()
        terms.isGuessed = true
        return EntryRecord(
            size: Int64(status.st_size), mediaType: .other, width: nil, height: nil,
            fetchedAt: changed, freshUntil: changed + defaultFreshness.load(ordering: .relaxed),
            validators: Validators(), isPinned: false, terms: terms)
    }

    /// Keeps the record of a file with the name of an entry.
    func remember(_ record: EntryRecord, of key: CacheKey, _ file: Int32) throws(Errno) {
        try markIfUnstorable(record, key)
        let old = records.insert(key, try kernel.status(of: file), record)
        if record.removeAt == nil, old?.removeAt != nil { unmarkUnstorable(key) }
    }

    // MARK: Types

    /// Whether the record of the entry with the name of `key` is not lost, or nothing has the name.
    func hasRecordInMemory(_ key: CacheKey) throws(Errno) -> Bool {
        do {
            let status = try kernel.status(of: key.description, in: descriptor)
            return records.note(of: key, seenAs: status) != nil
        } catch .noSuchFileOrDirectory {
            return true
        }
    }

    /// Replaces the lost record of an open entry by one with the type and the size that its bytes show.
    func recoverRecord(of key: CacheKey, _ file: Int32) throws(Errno) {
        let status = try kernel.status(of: file)
        guard records.note(of: key, seenAs: status) == nil else { return }
        var record = lostRecord(status)
        record.take(try report(of: file))
        records.insert(key, status, record)
    }

    // MARK: Images that must not be stored

    /// Marks an image that must not be kept, so that a later daemon removes it if this one is killed.
    func markIfUnstorable(_ record: EntryRecord, _ key: CacheKey) throws(Errno) {
        guard record.removeAt != nil else { return }
        let file = try kernel.open(
            key.description + Self.mark, in: descriptor, O_WRONLY | O_CREAT, mode: 0o644)
        close(file)
    }

    /// Removes the mark. If that fails, a later daemon removes the image, which costs a download.
    func unmarkUnstorable(_ key: CacheKey) {
        do {
            try unlinkIfPresent(key.description + Self.mark)
        } catch {
            return
        }
    }

    /// Removes the images that an earlier daemon has marked.
    func removeUnstorable() {
        guard !keepsAttributes else { return }
        do {
            for key in try keys(withSuffix: Self.mark) {
                try unlinkIfPresent(key.description)
                try unlinkIfPresent(key.description + Self.mark)
            }
        } catch {
            return
        }
    }
}

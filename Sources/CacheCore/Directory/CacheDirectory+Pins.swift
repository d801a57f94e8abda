import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// Pins, which lie in the records of files.
extension CacheDirectory {
    /// Rewrites an entry's record with or without a pin, and makes that durable.
    func setPin(_ isPinned: Bool, of key: CacheKey, _ file: Int32) throws(Errno) {
        guard keepsAttributes else { throw .notSupported }
        guard let old = try record(of: key, name: key.description) else {
            throw .noSuchFileOrDirectory
        }
        var record = old
        record.isPinned = isPinned
        try rewrite(record, of: key, file)
        do {
            try kernel.synchronize(file)
        } catch {
            // It is not to be taken for what it is not, neither now nor at the next try.
            try rewrite(old, of: key, file)
            throw error
        }
    }

    /// Puts another record in the place of an entry's. fsetxattr(2).
    func rewrite(_ record: EntryRecord, of key: CacheKey, _ file: Int32) throws(Errno) {
        let name = EntryRecord.attributeName(of: key)
        do {
            try kernel.setAttribute(name, record.text, of: file)
        } catch .noSpace {
            // The room is one block of an inode, not the disk: the validators can be had again.
            var bare = record
            bare.validators = Validators()
            try kernel.setAttribute(name, bare.text, of: file)
        }
    }

    /// Whether a person has pinned what lies under the name: an entry, or one that is none any more. Of another
    /// user's file nothing is believed.
    func isPinned(_ key: CacheKey) -> Bool {
        let name = key.description
        do {
            let isPinned = try withAttribute(EntryRecord.attributeName(of: key), of: name) { text in
                text.elementsEqual(EntryRecord.pinOfDamaged.utf8)
                    || EntryRecord(text: text)?.isPinned == true
            }
            return try isPinned == true && kernel.status(of: name, in: descriptor).st_uid == owner
        } catch {
            return false
        }
    }

    /// What lies under the name and is no entry is pinned no longer, and whatever takes its place is not
    /// either; an entry stays what it is. On the directory's thread, so that it is not another one meanwhile.
    /// fremovexattr(2).
    func forgetPin(of key: CacheKey) throws(Errno) {
        guard isPinned(key), case .failure? = try inspect(key, name: key.description) else {
            return
        }
        let file = try kernel.open(key.description, in: descriptor, O_RDONLY | O_NONBLOCK)
        defer { close(file) }
        try kernel.removeAttribute(EntryRecord.attributeName(of: key), of: file)
    }
}

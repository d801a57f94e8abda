import CLinux
internal import CacheKey
import Glibc
import HTTPCaching
internal import SystemPackage

/// Pins, which are kept in the records of files.
extension CacheDirectory {
    /// Rewrites the record of an entry with or without a pin, and makes that durable.
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
            // The file must not claim a pin, or the lack of one, that was reported as failed.
            try rewrite(old, of: key, file)
            throw error
        }
    }

    /// Whether the user has pinned the file under a name: an entry, or a damaged one. A file of another user is not
    /// believed.
    func isPinned(_ key: CacheKey, name: String) -> Bool {
        do {
            let isPinned = try withRecord(of: key, name: name) { bytes in
                bytes.elementsEqual(EntryRecord.pinOfDamaged.utf8)
                    || EntryRecord(bytes)?.isPinned == true
            }
            return try isPinned == true && kernel.status(of: name, in: descriptor).st_uid == owner
        } catch {
            return false
        }
    }

    /// Removes the pin of files that are no entries, so that the image that takes their place is not pinned. An entry
    /// is left alone. Called on the directory's thread, so that no publication replaces the files.
    func forgetPin(of key: CacheKey) throws(Errno) {
        let name = key.description
        if isPinned(key, name: name), case .failure? = try inspect(key, name: name) {
            try forgetPin(of: key, name: name)
        }
        let damagedName = Self.damagedName(of: key)
        if isPinned(key, name: damagedName) { try forgetPin(of: key, name: damagedName) }
    }

    /// fsetxattr(2), fremovexattr(2).
    private func forgetPin(of key: CacheKey, name: String) throws(Errno) {
        let file = try kernel.open(name, in: descriptor, O_RDONLY | O_NONBLOCK)
        defer { close(file) }
        if var record = try record(of: key, name: name), name != key.description {
            // A person can still examine it.
            record.isPinned = false
            try rewrite(record, of: key, file)
        } else {
            try kernel.removeAttribute(EntryRecord.attributeName(of: key), of: file)
        }
    }
}

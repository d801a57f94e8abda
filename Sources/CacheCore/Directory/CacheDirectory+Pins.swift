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

    /// Whether the user has pinned the file under a name, entry or not. A file of another user is not believed.
    func isPinned(_ key: CacheKey, name: String) -> Bool {
        do {
            let isPinned = try withRecord(of: key, name: name) { EntryRecord($0)?.isPinned == true }
            return try isPinned == true && kernel.status(of: name, in: descriptor).st_uid == owner
        } catch {
            return false
        }
    }

    /// Removes the pin of a file that is no entry, so that the image that takes its place is not pinned. An entry is
    /// left alone. Called on the directory's thread, so that no publication replaces the file. fremovexattr(2).
    func forgetPin(of key: CacheKey) throws(Errno) {
        let name = key.description
        guard isPinned(key, name: name), case .failure? = try inspect(key, name: name) else {
            return
        }
        let file = try kernel.open(name, in: descriptor, O_RDONLY | O_NONBLOCK)
        defer { close(file) }
        try kernel.removeAttribute(EntryRecord.attributeName(of: key), of: file)
    }
}

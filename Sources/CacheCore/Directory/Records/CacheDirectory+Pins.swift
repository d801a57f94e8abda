import CLinux
internal import CacheKey
import Glibc
import HTTPCaching
internal import SystemPackage

/// Pins, which are kept in the records of files.
extension CacheDirectory {
    /// Whether the user has pinned the file under a name, entry or not. A file of another user is not believed.
    func isPinned(_ key: CacheKey, name: String) -> Bool {
        ifPossible { () throws(Errno) in
            let isPinned = try withRecord(of: key, .named(name)) { EntryRecord($0)?.isPinned }
            return isPinned == true ? try kernel.status(of: name, in: descriptor).st_uid : nil
        } == owner
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

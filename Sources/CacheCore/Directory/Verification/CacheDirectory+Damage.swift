import CLinux
internal import CacheKey
import CacheValues
import HTTPCaching
internal import SystemPackage

/// Files that are found to be damaged: they lose their names.
extension CacheDirectory {
    /// Refers to a file that is no entry, without opening it. open(2), `O_PATH`.
    func openDamaged(_ key: CacheKey, _ damage: Damage) throws(Errno) -> OpenedEntry {
        let name = key.description
        let file = try kernel.open(name, in: descriptor, clinux_o_path)
        return OpenedEntry(
            key: key, descriptor: file, damage: damage, isPinned: isPinned(key, name: name))
    }

    /// Whether the name still leads to the opened file.
    func isInPlace(_ entry: OpenedEntry) -> Bool {
        isSame(entry.key.description, entry.descriptor)
    }

    /// Unlinks a damaged file, so that nobody reads its bytes as those of the image. The change is durable: otherwise
    /// the file would be back after a power cut. If the file cannot be unlinked, it loses its record, so that it is no
    /// entry any more. unlinkat(2), fsync(2).
    func removeDamaged(_ entry: OpenedEntry) throws(Errno) {
        guard isInPlace(entry) else { return }
        do {
            try unlink(entry.key)
        } catch {
            removeRecord(of: entry.key, entry.descriptor)
            throw error
        }
        try kernel.synchronizeNames(in: descriptor)
    }

    /// Removes the record of a file that must not be an entry and cannot be unlinked. If that fails too, nothing can
    /// be changed in the directory. fremovexattr(2).
    func removeRecord(of key: CacheKey, _ file: Int32) {
        ifPossible { () throws(Errno) in
            try kernel.removeAttribute(EntryRecord.attributeName(of: key), of: file)
        }
    }
}

import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// Files that are found to be damaged: they stop being entries.
extension CacheDirectory {
    /// Refers to a file that is no entry, without opening it. open(2), `O_PATH`.
    func openDamaged(
        _ key: CacheKey, _ damage: Damage, isPinned: Bool
    ) throws(Errno) -> OpenedEntry {
        let file = try kernel.open(key.description, in: descriptor, clinux_o_path)
        return OpenedEntry(key: key, descriptor: file, damage: damage, isPinned: isPinned)
    }

    /// Whether the name still leads to the opened file.
    func isInPlace(_ entry: OpenedEntry) -> Bool {
        isSame(entry.key.description, entry.descriptor)
    }

    /// Removes the record of a damaged file, or replaces it by a mark if the entry is pinned. The file stays, and
    /// counts as missing from now on, for the next daemon too. fremovexattr(2), fsetxattr(2).
    func markDamaged(_ entry: OpenedEntry) throws(Errno) {
        let (name, file) = (EntryRecord.attributeName(of: entry.key), entry.descriptor)
        do {
            if entry.isPinned {
                try kernel.setAttribute(name, EntryRecord.pinOfDamaged, of: file)
            } else {
                try kernel.removeAttribute(name, of: file)
            }
        } catch .noData {
            // It is marked already.
        }
        quarantine.remove(entry.key)
    }

    /// Puts an open file in quarantine: it is no entry, whatever its attributes say.
    func quarantine(_ key: CacheKey, _ file: Int32, _ damage: Damage) {
        do {
            quarantine.insert(key, try kernel.status(of: file), damage)
        } catch {
            // Without its status it can't be told from another file.
            return
        }
    }

    /// Whether the name leads to a file in quarantine.
    func isQuarantined(_ key: CacheKey) -> Bool {
        guard quarantine.contains(key) else { return false }
        do {
            let status = try kernel.status(of: key.description, in: descriptor)
            return quarantine.note(of: key, seenAs: status) != nil
        } catch {
            return false
        }
    }

    /// Removes the opened file, if its name still leads to it. unlinkat(2).
    func remove(_ entry: OpenedEntry) throws(Errno) {
        guard isInPlace(entry) else { return }
        try unlink(entry.key)
    }
}

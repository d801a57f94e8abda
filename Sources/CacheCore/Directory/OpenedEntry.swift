import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// What lies under the name of an entry, held so that nothing else can be taken for it.
final class OpenedEntry: Sendable {
    let key: CacheKey
    /// Of an entry, open for reading; of anything else, not opened. open(2), `O_PATH`.
    let descriptor: Int32
    /// What is wrong, as far as that is seen without reading.
    let damage: Damage?
    /// Whether a person has pinned the entry.
    let isPinned: Bool

    init(key: CacheKey, descriptor: Int32, damage: Damage? = nil, isPinned: Bool) {
        self.key = key
        self.descriptor = descriptor
        self.damage = damage
        self.isPinned = isPinned
    }

    deinit {
        close(descriptor)
    }
}

extension CacheDirectory {
    /// Holds what is no entry, whatever it is, without opening it.
    func hold(
        _ key: CacheKey, _ damage: Damage, isPinned: Bool
    ) throws(Errno) -> OpenedEntry {
        let held = try kernel.open(key.description, in: descriptor, clinux_o_path)
        return OpenedEntry(key: key, descriptor: held, damage: damage, isPinned: isPinned)
    }

    /// Whether the name still leads to what is held.
    func isInPlace(_ specimen: OpenedEntry) -> Bool {
        isSame(specimen.key.description, specimen.descriptor)
    }

    /// Takes away what makes a file an entry, all but its pin. It stays, and is missing from now on, to the
    /// next daemon too; it need not be remembered. fremovexattr(2), fsetxattr(2).
    func mark(_ specimen: OpenedEntry) throws(Errno) {
        let (name, file) = (EntryRecord.attributeName(of: specimen.key), specimen.descriptor)
        do {
            if specimen.isPinned {
                try kernel.setAttribute(name, EntryRecord.pinOfDamaged, of: file)
            } else {
                try kernel.removeAttribute(name, of: file)
            }
        } catch .noData {
            // It is marked.
        }
        disowned.remove(specimen.key)
    }

    /// Remembers of an open file that it is no entry, whatever it says itself.
    func disown(_ key: CacheKey, _ file: Int32, _ damage: Damage) {
        do {
            disowned.insert(key, try kernel.status(of: file), damage)
        } catch {
            // What can't be looked at can't be told from another.
            return
        }
    }

    /// Whether the name leads to a file that is disowned.
    func isDisowned(_ key: CacheKey) -> Bool {
        guard disowned.contains(key) else { return false }
        do {
            let status = try kernel.status(of: key.description, in: descriptor)
            return disowned.damage(of: key, seenAs: status) != nil
        } catch {
            return false
        }
    }

    /// Removes what is held, if the name still leads to it. unlinkat(2).
    func remove(_ specimen: OpenedEntry) throws(Errno) {
        guard isInPlace(specimen) else { return }
        try unlink(specimen.key)
    }
}

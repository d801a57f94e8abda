import CLinux
internal import CacheKey
import CacheModel
import CacheValues
import Glibc
import HTTPCaching
internal import SystemPackage

/// Files that are found to be damaged: they stop being entries.
extension CacheDirectory {
    /// Refers to a file that is no entry, without opening it. open(2), `O_PATH`.
    func openDamaged(_ key: CacheKey, _ damage: Damage) throws(Errno) -> OpenedEntry {
        let name = key.description
        let file = try kernel.open(name, in: descriptor, clinux_o_path)
        return OpenedEntry(
            key: key, descriptor: file, damage: damage, isPinned: isPinned(key, name: name))
    }

    /// The same for a file that an earlier verification has set aside; `nil` if there is none.
    func openSetAside(_ key: CacheKey) throws(Errno) -> OpenedEntry? {
        guard let damaged = try damagedFile(of: key) else { return nil }
        let name = Self.damagedName(of: key)
        let file = try kernel.open(name, in: descriptor, clinux_o_path)
        return OpenedEntry(
            key: key, descriptor: file, damage: .setAside, isPinned: damaged.isPinned)
    }

    /// Whether the name still leads to the opened file.
    func isInPlace(_ entry: OpenedEntry) -> Bool {
        isSame(entry.key.description, entry.descriptor)
    }

    // MARK: Setting aside

    /// Takes the name away from a damaged file, so that nobody reads its bytes as those of the image. The file keeps
    /// its attributes, and with them its pin. The change is durable: otherwise the file would be back after a power
    /// cut. renameat(2), fsync(2).
    func setAside(_ entry: OpenedEntry) throws(Errno) {
        guard isInPlace(entry) else { return }
        let name = Self.damagedName(of: entry.key)
        try kernel.rename(entry.key.description, to: name, in: descriptor)
        quarantine.remove(entry.key)
        try kernel.synchronizeNames(in: descriptor)
    }

    /// Removes a further name of a damaged file, which was set aside under another one. If the name is pinned, an empty
    /// file in the place of the damaged one keeps the pin. unlinkat(2), open(2).
    func removeFurtherName(_ entry: OpenedEntry) throws(Errno) {
        guard isInPlace(entry) else { return }
        if entry.isPinned {
            let name = Self.damagedName(of: entry.key)
            try unlinkIfPresent(name)
            let file = try kernel.open(
                name, in: descriptor, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
            defer { close(file) }
            try kernel.setAttribute(
                EntryRecord.attributeName(of: entry.key), EntryRecord.pinOfDamaged, of: file)
            if let url = try url(of: entry.key, entry.descriptor) {
                try kernel.setAttribute(EntryAttributes.url, url, of: file)
            }
            try kernel.synchronize(file)
        }
        try unlink(entry.key)
        try kernel.synchronizeNames(in: descriptor)
    }

    /// Removes the record of a damaged file that could not be set aside, or replaces it by a mark if the entry is
    /// pinned. The file counts as missing from now on, for the next daemon too. fremovexattr(2), fsetxattr(2).
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

    // MARK: Files that were set aside

    /// A damaged file that was set aside; `nil` if there is none, or a directory has its name. stat(2).
    func damagedFile(of key: CacheKey) throws(Errno) -> DamagedFile? {
        let name = Self.damagedName(of: key)
        do {
            let status = try kernel.status(of: name, in: descriptor)
            guard status.st_mode & S_IFMT != S_IFDIR else { return nil }
            // The bytes of a file with other names are counted with these.
            return DamagedFile(
                allocated: status.st_nlink > 1 ? 0 : status.allocated,
                isPinned: isPinned(key, name: name))
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }

    /// When a damaged file was set aside; `nil` if there is none. A rename changes nothing else. stat(2), `st_ctim`.
    func setAsideTime(of key: CacheKey) -> FileTime? {
        do {
            let name = Self.damagedName(of: key)
            return FileTime(try kernel.status(of: name, in: descriptor).st_ctim)
        } catch {
            return nil
        }
    }

    // MARK: Quarantine

    /// Puts an open file in quarantine: it is no entry even if its attributes say so.
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

    /// Removes the opened file, under its own name or that of a damaged file. unlinkat(2).
    func remove(_ entry: OpenedEntry) throws(Errno) {
        if isInPlace(entry) { try unlink(entry.key) }
        let name = Self.damagedName(of: entry.key)
        if isSame(name, entry.descriptor) { try unlinkIfPresent(name) }
    }
}

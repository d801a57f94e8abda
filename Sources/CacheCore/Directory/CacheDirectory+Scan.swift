import CLinux
import CacheDisk
import CacheFetching
internal import CacheKey
import CacheValues
import Glibc
internal import SystemPackage

/// Reading the whole directory, in batches, so that no answer waits for it.
extension CacheDirectory {
    /// Names in a batch.
    static let scanBatch = 1024

    /// Probes every name that belongs to the cache, and passes the results on in batches. Names of other files are
    /// not probed. readdir(3), fstatat(2), getxattr(2).
    ///
    /// - Parameters:
    ///   - begin: called before a batch is probed. Its result is passed on with the batch, and tells the receiver
    ///     which names changed in between.
    ///   - take: called with each batch; returns `false` to end the scan.
    func scan<Start>(
        begin: () -> Start, batch take: ([ScannedName], Start) -> Bool
    ) throws(Errno) {
        var names: [(DirectoryName, String)] = []
        func takeNames() -> Bool {
            let start = begin()
            let batch = names.map { name, text in probe(name, text) }
            names.removeAll(keepingCapacity: true)
            return take(batch, start)
        }
        let isWhole = try forEachOwnName { name, text in
            names.append((name, text))
            return names.count < Self.scanBatch || takeNames()
        }
        if isWhole, !names.isEmpty { _ = takeNames() }
    }

    /// The keys of all files with the name of an entry, valid or not. readdir(3).
    func entryKeys() throws(Errno) -> [CacheKey] {
        var keys: [CacheKey] = []
        _ = try forEachOwnName { name, _ in
            if case .entry(let key) = name { keys.append(key) }
            return true
        }
        return keys
    }

    /// The same in the order of their inodes. So the names of one file follow each other, and a disk is read in order.
    func entryKeysByInode() throws(Errno) -> [CacheKey] {
        var files: [(inode: UInt64, key: CacheKey)] = []
        _ = try forEachName { bytes, inode in
            if case .entry(let key)? = DirectoryName(bytes) { files.append((inode, key)) }
            return true
        }
        return files.sorted { $0 < $1 }.map(\.key)
    }

    /// The keys whose names have this suffix in the directory. readdir(3).
    func keys(withSuffix suffix: String) throws(Errno) -> [CacheKey] {
        var keys: [CacheKey] = []
        _ = try forEachName { name, _ in
            guard name.count == CacheKey.nameLength + suffix.utf8.count,
                name[CacheKey.nameLength...].elementsEqual(suffix.utf8),
                let key = CacheKey(
                    name: UnsafeRawBufferPointer(rebasing: name[..<CacheKey.nameLength]))
            else { return true }
            keys.append(key)
            return true
        }
        return keys
    }

    /// Calls `body` with every name that belongs to the cache, until it returns `false`. Returns whether all names
    /// were read.
    private func forEachOwnName(_ body: (DirectoryName, String) -> Bool) throws(Errno) -> Bool {
        try forEachName { bytes, _ in
            DirectoryName(bytes).map { body($0, String(decoding: bytes, as: UTF8.self)) } ?? true
        }
    }

    /// Calls `body` with every name and the number of its inode, until it returns `false`. Returns whether all names
    /// were read.
    private func forEachName(
        _ body: (UnsafeRawBufferPointer, UInt64) -> Bool
    ) throws(Errno) -> Bool {
        let copy = try kernel.call(.getdents) { openat(descriptor, ".", O_RDONLY | O_CLOEXEC) }
        guard let stream = fdopendir(copy) else {
            let cause = Errno(rawValue: errno)
            close(copy)
            throw cause
        }
        defer { closedir(stream) }
        while let entry = try kernel.nextEntry(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)
            }
            let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
            guard body(bytes, UInt64(entry.pointee.d_ino)) else { return false }
        }
        return true
    }

    /// Probes a name. A file that can't be probed does not end a scan.
    func probe(_ name: DirectoryName, _ text: String) -> ScannedName {
        do {
            switch name {
            case .entry(let key): return .entry(key, try probe(key, name: text))
            case .partial(let key): return .partial(key, try allocated(toPartialOf: key))
            }
        } catch {
            return .unreadable(name)
        }
    }
}

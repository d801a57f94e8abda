import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// The first reading of the directory, in batches so that answers are never kept waiting.
extension CacheDirectory {
    /// A name the scan looked at.
    enum Scanned: Sendable {
        case entry(CacheKey, Examination)
        /// Bytes the disk holds for a partial; `nil` where there is none.
        case partial(CacheKey, Int64?)
        /// It could not be looked at, and has to be again.
        case unseen(DirectoryName)
    }

    /// Names in one batch.
    static let scanBatch = 1024

    /// Examines every name that is the cache's own and hands them on in batches. `begin` is called
    /// before a batch is examined, and what it returns handed on with it: by that the taker knows what
    /// changed meanwhile. Names of strangers
    /// are not even looked at. readdir(3), fstatat(2), getxattr(2).
    func scan<Start>(
        begin: () -> Start, batch take: ([Scanned], Start) -> Bool
    ) throws(Errno) {
        var names: [(DirectoryName, String)] = []
        let isWhole = try forEachName { name, text in
            names.append((name, text))
            return names.count < Self.scanBatch || examine(&names, begin, take)
        }
        if isWhole { _ = examine(&names, begin, take) }
    }

    /// Every name of an entry that is there, whatever lies under it. readdir(3).
    func entryKeys() throws(Errno) -> [CacheKey] {
        var keys: [CacheKey] = []
        _ = try forEachName { name, _ in
            if case .entry(let key) = name { keys.append(key) }
            return true
        }
        return keys
    }

    /// Hands on every name that is the cache's own until `body` has enough; `false` if it had.
    private func forEachName(_ body: (DirectoryName, String) -> Bool) throws(Errno) -> Bool {
        let copy = try kernel.call(.getdents) { openat(descriptor, ".", O_RDONLY | O_CLOEXEC) }
        guard let stream = fdopendir(copy) else {
            let cause = Errno(rawValue: errno)
            close(copy)
            throw cause
        }
        defer { closedir(stream) }
        while let (name, text) = try nextName(stream) {
            guard body(name, text) else { return false }
        }
        return true
    }

    private func examine<Start>(
        _ names: inout [(DirectoryName, String)], _ begin: () -> Start,
        _ take: ([Scanned], Start) -> Bool
    ) -> Bool {
        let start = begin()
        var scanned: [Scanned] = []
        scanned.reserveCapacity(names.count)
        for (name, text) in names { scanned.append(look(at: name, text)) }
        names.removeAll(keepingCapacity: true)
        return take(scanned, start)
    }

    /// One file that can't be looked at is no reason to know of no other.
    func look(at name: DirectoryName, _ text: String) -> Scanned {
        do {
            switch name {
            case .entry(let key): return .entry(key, try examine(key, name: text))
            case .partial(let key): return .partial(key, try allocated(toPartialOf: key))
            }
        } catch {
            return .unseen(name)
        }
    }

    /// The next name that is the cache's own, strangers' passed over; `nil` at the end.
    private func nextName(
        _ stream: OpaquePointer
    ) throws(Errno) -> (DirectoryName, String)? {
        while let entry = try kernel.nextEntry(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)
            }
            let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
            if let own = DirectoryName(bytes) { return (own, String(cString: name)) }
        }
        return nil
    }
}

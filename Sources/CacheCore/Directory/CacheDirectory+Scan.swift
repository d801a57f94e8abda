import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// The first reading of the directory, in batches so that answers are never kept waiting.
extension CacheDirectory {
    /// Names in one batch.
    static let scanBatch = 1024

    /// Examines every name that is the cache's own and hands them on in batches. `begin` is called
    /// before a batch is examined, and what it returns handed on with it: by that the taker knows what
    /// changed meanwhile. Names of strangers are not even looked at. readdir(3), fstatat(2), getxattr(2).
    func scan<Start>(
        begin: () -> Start, batch take: ([ScannedName], Start) -> Bool
    ) throws(Errno) {
        var names: [ScanBatch.Name] = []
        var helper: ScanHelper?
        // What the helper is at while names are read.
        var last: (batch: ScanBatch, start: Start)?
        func takeLast() -> Bool {
            defer { last = nil }
            return last.map { take($0.batch.result(in: self), $0.start) } ?? true
        }
        // What is begun is handed on, whatever ends the reading.
        defer { _ = takeLast() }
        let isWhole = try forEachName { name, text in
            names.append((name, text))
            guard names.count == Self.scanBatch else { return true }
            let helping = helper ?? ScanHelper(self)
            helper = helping
            let (batch, start) = (ScanBatch(names), begin())
            names.removeAll(keepingCapacity: true)
            helping.help(with: batch)
            defer { last = (batch, start) }
            return takeLast()
        }
        guard isWhole, takeLast(), !names.isEmpty else { return }
        last = (ScanBatch(names), begin())
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

    /// One file that can't be looked at is no reason to know of no other.
    func look(at name: DirectoryName, _ text: String) -> ScannedName {
        do {
            switch name {
            case .entry(let key): return .entry(key, try probe(key, name: text))
            case .partial(let key): return .partial(key, try allocated(toPartialOf: key))
            }
        } catch {
            return .unreadable(name)
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

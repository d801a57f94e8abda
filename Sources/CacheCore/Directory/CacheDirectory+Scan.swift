import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// The first reading of the directory, in batches so that answers are never kept waiting.
extension CacheDirectory {
    /// A file the scan looked at.
    struct Scanned: Sendable {
        let key: CacheKey
        let examination: Examination
    }

    /// Names in one batch.
    static let scanBatch = 1024

    /// Examines every name that could be an entry's and hands them on in batches. `begin` is called
    /// before a batch is examined, so that the taker knows what changed meanwhile. Names of strangers
    /// are not even looked at. readdir(3), fstatat(2), getxattr(2).
    func scan(
        begin: () -> Void, batch take: ([Scanned]) -> Bool
    ) throws(Errno) {
        let copy = try kernel.call(.getdents) { openat(descriptor, ".", O_RDONLY | O_CLOEXEC) }
        guard let stream = fdopendir(copy) else {
            let cause = Errno(rawValue: errno)
            close(copy)
            throw cause
        }
        defer { closedir(stream) }
        var names: [(CacheKey, String)] = []
        while let (key, name) = nextEntry(stream) {
            names.append((key, name))
            guard names.count == Self.scanBatch else { continue }
            guard examine(&names, begin, take) else { return }
        }
        _ = examine(&names, begin, take)
    }

    private func examine(
        _ names: inout [(CacheKey, String)], _ begin: () -> Void, _ take: ([Scanned]) -> Bool
    ) -> Bool {
        begin()
        var scanned: [Scanned] = []
        scanned.reserveCapacity(names.count)
        for (key, name) in names {
            scanned.append(Scanned(key: key, examination: examineOrPass(key, name: name)))
        }
        names.removeAll(keepingCapacity: true)
        return take(scanned)
    }

    /// One file that can't be looked at is nothing to be used, and no reason to know of no other.
    func examineOrPass(_ key: CacheKey, name: String) -> Examination {
        do {
            return try examine(key, name: name)
        } catch {
            return .unusable
        }
    }

    /// The next name that could be an entry's, strangers passed over; `nil` at the end.
    private func nextEntry(_ stream: OpaquePointer) -> (CacheKey, String)? {
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)
            }
            let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
            if let key = CacheKey(name: bytes) { return (key, String(cString: name)) }
        }
        return nil
    }
}

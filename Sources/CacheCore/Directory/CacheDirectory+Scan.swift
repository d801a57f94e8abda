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
        let copy = try kernel.call(.getdents) { openat(descriptor, ".", O_RDONLY | O_CLOEXEC) }
        guard let stream = fdopendir(copy) else {
            let cause = Errno(rawValue: errno)
            close(copy)
            throw cause
        }
        defer { closedir(stream) }
        var names: [(DirectoryName, String)] = []
        while let name = nextName(stream) {
            names.append(name)
            guard names.count == Self.scanBatch else { continue }
            guard examine(&names, begin, take) else { return }
        }
        _ = examine(&names, begin, take)
    }

    private func examine<Start>(
        _ names: inout [(DirectoryName, String)], _ begin: () -> Start,
        _ take: ([Scanned], Start) -> Bool
    ) -> Bool {
        let start = begin()
        var scanned: [Scanned] = []
        scanned.reserveCapacity(names.count)
        for (name, text) in names {
            switch name {
            case .entry(let key): scanned.append(.entry(key, examineOrPass(key, name: text)))
            case .partial(let key): scanned.append(.partial(key, allocated(toPartialOf: key)))
            }
        }
        names.removeAll(keepingCapacity: true)
        return take(scanned, start)
    }

    /// One file that can't be looked at is nothing to be used, and no reason to know of no other.
    func examineOrPass(_ key: CacheKey, name: String) -> Examination {
        do {
            return try examine(key, name: name)
        } catch {
            return .unusable
        }
    }

    /// The next name that is the cache's own, strangers' passed over; `nil` at the end.
    private func nextName(_ stream: OpaquePointer) -> (DirectoryName, String)? {
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)
            }
            let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
            if let own = DirectoryName(bytes) { return (own, String(cString: name)) }
        }
        return nil
    }
}

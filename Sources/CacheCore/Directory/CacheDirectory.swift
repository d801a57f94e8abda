import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// The directory that is the database: entries under their names, partials beside them.
///
/// Held open by descriptor; every name is used relative to it, so that neither a link nor a rename
/// of the path can lead the daemon elsewhere. Knows no policy and keeps no list of what it holds.
final class CacheDirectory: Sendable {
    let path: String
    let kernel: Kernel
    /// The directory itself, for `openat(2)` and its like.
    let descriptor: Int32
    /// `.lock`, whose `flock(2)` keeps a second daemon out until this process ends.
    private let lockDescriptor: Int32
    /// Which directory it is: a moved or replaced one has another identity.
    private let identity: Identity
    let owner = geteuid()
    /// `/proc/self/fd/N/`, through which attributes are read without opening a file.
    private let procPrefix: String
    /// Whether this file system keeps user attributes at all.
    let keepsAttributes: Bool

    /// Makes the directory where it is missing, locks it and marks it as a cache.
    ///
    /// - Parameter mode: permission bits of a directory that has to be made.
    init(path: String, mode: mode_t, kernel: Kernel) throws(CacheError) {
        self.path = path
        self.kernel = kernel
        try Self.make(path, mode: mode, kernel)
        // An initialiser that throws runs no `deinit`: what is open has to be closed here.
        descriptor = try Self.open(path, kernel)
        do {
            lockDescriptor = try Self.lock(path, descriptor, kernel)
        } catch {
            close(descriptor)
            throw error
        }
        do {
            try Self.writeTag(descriptor, kernel, path: path)
            identity = try Self.identity(of: descriptor, path, kernel)
            try Self.settle(descriptor, path, kernel)
        } catch {
            close(lockDescriptor)
            close(descriptor)
            throw error
        }
        procPrefix = "/proc/self/fd/\(descriptor)/"
        keepsAttributes = Self.keepsAttributes(lockDescriptor, kernel)
    }

    deinit {
        close(lockDescriptor)
        close(descriptor)
    }

    /// Lets another process have the directory, whoever still holds this value. flock(2).
    func giveUp() {
        clinux_flock(lockDescriptor, LOCK_UN)
    }

    private static func identity(
        of directory: Int32, _ path: String, _ kernel: Kernel
    ) throws(CacheError) -> Identity {
        try attempt("read", path) { () throws(Errno) in
            Identity(try kernel.status(of: directory))
        }
    }

    /// Whether the path still leads to this very directory: one `stat(2)`, about 0.6 µs.
    var isInPlace: Bool {
        do {
            return Identity(try kernel.status(ofPath: path)) == identity
        } catch {
            return false
        }
    }

    /// A file's identity on this machine: device and inode.
    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t

        init(_ status: stat) {
            device = status.st_dev
            inode = status.st_ino
        }
    }

    // MARK: Looking

    /// What lies under the name of `key`.
    func examine(_ key: CacheKey) throws(Errno) -> Examination {
        try examine(key, name: key.description)
    }

    /// The same with the name at hand, as a scan has it.
    func examine(_ key: CacheKey, name: String) throws(Errno) -> Examination {
        let status: stat
        do {
            status = try kernel.status(of: name, in: descriptor)
        } catch .noSuchFileOrDirectory {
            return .absent
        }
        let type = status.st_mode & S_IFMT
        guard type != S_IFDIR else { return .obstructed }
        guard type == S_IFREG, status.st_size > 0, status.st_uid == owner else { return .unusable }
        guard let record = try record(of: key, name: name) else {
            return keepsAttributes ? .unusable : .entry(Self.bareFacts(status))
        }
        guard record.size == status.st_size else { return .unusable }
        return .entry(
            EntryFacts(
                record: record, allocated: Int64(status.st_blocks) * 512,
                lastUsedAt: FileTime(status.st_atim)))
    }

    /// The record of an entry; `nil` where there is none that can be read.
    func record(of key: CacheKey, name: String) throws(Errno) -> EntryRecord? {
        let attribute = EntryRecord.attributeName(of: key)
        return try withAttribute(attribute, of: name) { EntryRecord(text: $0) } ?? nil
    }

    /// The record of the entry under the name of `key`; `nil` where there is no entry, or none that can be
    /// looked at.
    func entryRecord(of key: CacheKey) -> EntryRecord? {
        let name = key.description
        do {
            guard keepsAttributes, case .entry = try examine(key, name: name) else { return nil }
            return try record(of: key, name: name)
        } catch {
            return nil
        }
    }

    /// An attribute that other programs read too, as text; `nil` where it is missing.
    func attribute(_ attribute: String, of key: CacheKey) throws(Errno) -> String? {
        try withAttribute(attribute, of: key.description) { String(decoding: $0, as: UTF8.self) }
    }

    /// Hands an attribute's bytes to `body`; `nil` where the file or the attribute is missing or the
    /// value too long to be ours.
    private func withAttribute<Result>(
        _ attribute: String, of name: String, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(Errno) -> Result? {
        do {
            return try withTemporaryBuffer(EntryAttributes.maximumLength) {
                (buffer) throws(Errno) -> Result in
                let count = try kernel.attribute(attribute, ofPath: procPrefix + name, into: buffer)
                return body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        } catch .noData, .noSuchFileOrDirectory, .notSupported, .outOfRange {
            return nil
        }
    }

    /// All a file says of itself where the file system keeps no attributes.
    private static func bareFacts(_ status: stat) -> EntryFacts {
        EntryFacts(
            size: Int64(status.st_size), allocated: Int64(status.st_blocks) * 512,
            mediaType: .other, width: nil, height: nil,
            fetchedAt: UnixTime(clamping: Int64(status.st_mtim.tv_sec)), freshUntil: nil,
            lastUsedAt: FileTime(status.st_atim), isPinned: false)
    }

    /// Bytes the disk holds for what lies under the name of a partial; `nil` where nothing does, or
    /// nothing that can be looked at. stat(2), `st_blocks`.
    func allocated(toPartialOf key: CacheKey) -> Int64? {
        do {
            let status = try kernel.status(of: Self.partialName(of: key), in: descriptor)
            return Int64(status.st_blocks) * 512
        } catch {
            return nil
        }
    }

    static func partialName(of key: CacheKey) -> String {
        key.description + DirectoryName.partialSuffix
    }

    // MARK: Changing

    /// Says in a file when it was last used, without opening it; what is gone is passed over.
    /// utimensat(2).
    func setLastUse(_ time: FileTime, of key: CacheKey) throws(Errno) {
        do {
            try kernel.setAccessTime(time, of: key.description, in: descriptor)
        } catch .noSuchFileOrDirectory {
            return
        }
    }

    /// Removes an entry; what is gone already is as good as removed. unlinkat(2).
    func unlink(_ key: CacheKey) throws(Errno) {
        try unlinkIfPresent(key.description)
    }

    /// Removes a partial. unlinkat(2).
    func discardPartial(of key: CacheKey) throws(Errno) {
        try unlinkIfPresent(Self.partialName(of: key))
    }

    private func unlinkIfPresent(_ name: String) throws(Errno) {
        do {
            try kernel.unlink(name, in: descriptor)
        } catch .noSuchFileOrDirectory {
            return
        }
    }
}

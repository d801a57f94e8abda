import CLinux
internal import CacheKey
import Glibc
internal import Synchronization
internal import SystemPackage

/// The directory that is the database: entries under their names, partials beside them.
///
/// Held open by descriptor; every name is used relative to it, so that neither a link nor a rename
/// of the path can lead the daemon elsewhere, until ``adopt(_:)``. Knows no policy and keeps no list of
/// what it holds.
final class CacheDirectory: Sendable {
    let path: String
    let kernel: Kernel
    /// Permission bits of a directory that has to be made.
    let mode: mode_t
    /// The directory itself, for `openat(2)` and its like.
    let descriptor: Int32
    /// `.lock`, whose `flock(2)` keeps a second daemon out until this process ends.
    private let lockDescriptor: Int32
    /// Which directory it is.
    private let facts: Mutex<Facts>
    let disowned = Quarantine()
    let owner = geteuid()

    /// Makes the directory where it is missing, locks it and marks it as a cache.
    ///
    /// - Parameter mode: permission bits of a directory that has to be made.
    init(path: String, mode: mode_t, kernel: Kernel) throws(CacheError) {
        self.path = path
        self.kernel = kernel
        self.mode = mode
        try Self.make(path, mode: mode, kernel)
        let opened = try Opened(path, kernel)
        descriptor = opened.directory
        lockDescriptor = opened.lock
        facts = Mutex(opened.facts)
    }

    deinit {
        Self.release(descriptor)
        Self.release(lockDescriptor)
    }

    /// Lets another process have the directory, whoever still holds this value. flock(2).
    func giveUp() {
        // In this order: who finds `.lock` free shall find the directory so.
        for held in [descriptor, lockDescriptor] { clinux_flock(held, LOCK_UN) }
    }

    // MARK: Which directory it is

    /// What is known of a directory from its opening on.
    struct Facts {
        /// A moved or replaced directory has another.
        var identity: Identity
        /// Whether its file system keeps user attributes at all.
        let keepsAttributes: Bool
        /// Whether a file can be made without a name and be given one later.
        let makesUnnamedFiles: Bool
        /// Whether it says that it is a cache.
        let isTagged: Bool
    }

    /// A file's identity on this machine: device and inode.
    struct Identity: Equatable, Sendable {
        private let device: dev_t
        private let inode: ino_t

        init(_ status: stat) {
            device = status.st_dev
            inode = status.st_ino
        }
    }

    /// Whether this file system keeps user attributes at all.
    var keepsAttributes: Bool { facts.withLock { $0.keepsAttributes } }

    /// Whether a file can be made without a name and be given one later.
    var makesUnnamedFiles: Bool { facts.withLock { $0.makesUnnamedFiles } }

    /// Whether the directory says that it is a cache; on a full disk it can't.
    var isTagged: Bool { facts.withLock { $0.isTagged } }

    /// Which directory names lead into, as far as anybody believes.
    var identity: Identity { facts.withLock { $0.identity } }

    /// Whether the path still leads to this very directory: one `stat(2)`, about 0.6 µs. Where that can't
    /// be told it does, as long as nothing says otherwise.
    var isInPlace: Bool { isInPlace(identity) }

    /// Whether it leads to this one, and names do too.
    func isInPlace(_ place: Identity) -> Bool {
        do {
            return try Identity(kernel.status(ofPath: path)) == place && identity == place
        } catch {
            return error != .noSuchFileOrDirectory && error != .notDirectory
        }
    }

    /// Takes over the directory the path leads to now, in the place of one that was replaced; makes it
    /// if the old one was deleted and nothing is there. One that was moved away may come back.
    ///
    /// - Parameter prepare: called when names lead into the new directory, and before anybody believes
    ///   that it is in place.
    func adopt(_ prepare: () -> Void) throws(CacheError) {
        if isDeleted { try Self.makeLast(path, mode: mode, kernel) }
        let opened = try Opened(path, kernel)
        // Whoever uses these numbers goes on in the new directory.
        clinux_replace(descriptor, opened.directory)
        clinux_replace(lockDescriptor, opened.lock)
        close(opened.directory)
        close(opened.lock)
        facts.withLock { facts in
            let old = facts.identity
            facts = opened.facts
            facts.identity = old
        }
        prepare()
        facts.withLock { $0 = opened.facts }
    }

    /// Whether no name leads to it any more. fstat(2), `st_nlink`.
    var isDeleted: Bool {
        do {
            return try kernel.status(of: descriptor).st_nlink == 0
        } catch {
            return false
        }
    }

    /// Whether its file system lets anybody write. statfs(2), `ST_RDONLY`.
    var isWritable: Bool {
        do {
            return try kernel.fileSystem(of: descriptor).f_flags & 1 == 0
        } catch {
            return false
        }
    }

    // MARK: Looking

    /// What lies under the name of `key`.
    func probe(_ key: CacheKey) throws(Errno) -> EntryProbe {
        try probe(key, name: key.description)
    }

    /// The same with the name at hand, as a scan has it.
    func probe(_ key: CacheKey, name: String) throws(Errno) -> EntryProbe {
        switch try inspect(key, name: name) {
        case nil: .absent
        case .success(let facts): .entry(facts)
        case .failure(.directory): .obstructed
        case .failure: .unusable
        }
    }

    /// The same with why something is no entry; `nil` where nothing lies.
    func inspect(_ key: CacheKey, name: String) throws(Errno) -> Result<EntryFacts, Damage>? {
        let status: stat
        do {
            status = try kernel.status(of: name, in: descriptor)
        } catch .noSuchFileOrDirectory {
            return nil
        }
        if let damage = damage(seenIn: status) ?? disowned.damage(of: key, seenAs: status) {
            return .failure(damage)
        }
        guard let record = try record(of: key, name: name) else {
            return keepsAttributes ? .failure(.noRecord) : .success(Self.bareFacts(status))
        }
        guard record.size == status.st_size else {
            return .failure(.wrongSize(recorded: record.size))
        }
        return .success(
            EntryFacts(
                record: record, allocated: status.allocated,
                lastUsedAt: FileTime(lastUse: status.st_atim)))
    }

    private func damage(seenIn status: stat) -> Damage? {
        switch status.st_mode & S_IFMT {
        case S_IFDIR: .directory
        case S_IFREG where status.st_uid != owner: .otherOwner
        case S_IFREG where status.st_mode & S_IRUSR == 0: .unreadable
        case S_IFREG: status.st_size > 0 ? nil : .empty
        default: .notAFile
        }
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
            guard keepsAttributes, case .entry = try probe(key, name: name) else { return nil }
            return try record(of: key, name: name)
        } catch {
            return nil
        }
    }

    /// An attribute that other programs read too, as text; `nil` where it is missing.
    func attribute(_ attribute: String, of key: CacheKey) throws(Errno) -> String? {
        try withAttribute(attribute, of: key.description) { String(decoding: $0, as: UTF8.self) }
    }

    /// The same of an open file. fgetxattr(2).
    func attribute(_ attribute: String, of file: Int32) throws(Errno) -> String? {
        do {
            return try withTemporaryBuffer(EntryAttributes.maximumLength) {
                (buffer) throws(Errno) -> String in
                let count = try kernel.attribute(attribute, of: file, into: buffer)
                return String(decoding: buffer[..<count], as: UTF8.self)
            }
        } catch .noData, .notSupported, .outOfRange {
            return nil
        }
    }

    /// Hands an attribute's bytes to `body`; `nil` where the file or the attribute is missing or the
    /// value too long to be ours.
    func withAttribute<Result>(
        _ attribute: String, of name: String, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(Errno) -> Result? {
        do {
            return try withTemporaryBuffer(EntryAttributes.maximumLength) {
                (buffer) throws(Errno) -> Result in
                let count = try kernel.attribute(attribute, of: name, in: descriptor, into: buffer)
                return body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        } catch .noData, .noSuchFileOrDirectory, .notSupported, .outOfRange {
            return nil
        }
    }

    /// All a file says of itself where the file system keeps no attributes.
    private static func bareFacts(_ status: stat) -> EntryFacts {
        EntryFacts(
            size: Int64(status.st_size), allocated: status.allocated,
            mediaType: .other, width: nil, height: nil,
            fetchedAt: UnixTime(clamping: Int64(status.st_mtim.tv_sec)), freshUntil: nil,
            lastUsedAt: FileTime(lastUse: status.st_atim), isPinned: false)
    }

    /// Bytes the disk holds for what lies under the name of a partial; `nil` where nothing does, or a directory,
    /// which is somebody else's. stat(2), `st_blocks`.
    func allocated(toPartialOf key: CacheKey) throws(Errno) -> Int64? {
        do {
            let status = try kernel.status(of: Self.partialName(of: key), in: descriptor)
            return status.st_mode & S_IFMT == S_IFDIR ? nil : status.allocated
        } catch .noSuchFileOrDirectory {
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
        disowned.remove(key)
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

import CLinux
internal import CacheKey
import CacheValues
import Glibc
import HTTPCaching
internal import Synchronization
internal import SystemPackage

/// The directory that is the database: entries under their names, and partials beside them.
///
/// It is held open by a descriptor, and every name is used relative to that. So neither a link nor a rename of the
/// path leads the daemon elsewhere, until ``adopt(_:)``. It knows no policy and keeps no list of its contents.
final class CacheDirectory: Sendable {
    let path: String
    let kernel: Kernel
    /// Permission bits for a directory that has to be made.
    let mode: mode_t
    /// The directory itself, for openat(2) and similar calls.
    let descriptor: Int32
    /// `.lock`, whose flock(2) keeps a second daemon out until this process ends.
    private let lockDescriptor: Int32
    private let facts: Mutex<Facts>
    /// The records of entries if they are kept in memory.
    let notes = FileNotes<EntryRecord>()
    /// The attributes of new entries that are still to be written.
    let unwritten = UnwrittenAttributes()
    /// Whether images with equal bytes are to become names of one file.
    private let mayShareFiles: Bool
    /// Seconds for which an entry is fresh whose record is lost.
    let defaultFreshness: Atomic<Int64>
    let owner = geteuid()

    /// Makes the directory if it is missing, locks it and marks it as a cache.
    ///
    /// - Parameters:
    ///   - mode: permission bits for a directory that has to be made.
    ///   - defaultFreshness: seconds for which an entry is fresh whose record is lost.
    init(
        path: String, mode: mode_t, kernel: Kernel, sharesFiles: Bool = true,
        defaultFreshness: Int64 = 3600
    ) throws(CacheError) {
        mayShareFiles = sharesFiles
        self.path = path
        self.kernel = kernel
        self.mode = mode
        self.defaultFreshness = Atomic(defaultFreshness)
        try Self.make(path, mode: mode, kernel)
        let opened = try Opened(path, kernel)
        descriptor = opened.directory
        lockDescriptor = opened.lock
        facts = Mutex(opened.facts)
        records.opened()
    }

    deinit {
        Self.release(descriptor)
        Self.release(lockDescriptor)
    }

    /// Lets another process use the directory, even while this value is still referenced. flock(2).
    func giveUp() {
        // In this order: a process that finds `.lock` free must find the directory free too.
        for locked in [descriptor, lockDescriptor] { clinux_flock(locked, LOCK_UN) }
    }

    // MARK: Which directory it is

    /// The properties of a directory that are found out when it is opened.
    struct Facts {
        /// Changes if the directory is moved or replaced.
        var identity: Identity
        /// Where records are kept: in attributes if its file system has them.
        let records: any RecordStore.Type
        /// Whether a file can be made without a name and get one later.
        let makesUnnamedFiles: Bool
        /// Whether it has a `CACHEDIR.TAG`.
        let isTagged: Bool
    }

    /// Identifies a file on this machine by device and inode.
    struct Identity: Equatable, Sendable {
        private let device: dev_t
        private let inode: ino_t

        init(_ status: stat) {
            device = status.st_dev
            inode = status.st_ino
        }

        /// The number of a file's inode; 0 if the file is on another file system than this one.
        func inode(of status: stat) -> UInt64 {
            status.st_dev == device ? UInt64(status.st_ino) : 0
        }
    }

    private var recordType: any RecordStore.Type { facts.withLock { $0.records } }

    /// The records of entries.
    var records: any RecordStore { recordType.init(directory: self) }

    /// Whether the digests of entries are kept, which tell equal and damaged files.
    var keepsDigests: Bool { recordType.keepsDigests }

    /// Whether images with equal bytes become names of one file.
    var sharesFiles: Bool { mayShareFiles && keepsDigests }

    /// Whether a file can be made without a name and get one later.
    var makesUnnamedFiles: Bool { facts.withLock { $0.makesUnnamedFiles } }

    /// Whether the directory has a `CACHEDIR.TAG`. On a full disk it can't be written.
    var isTagged: Bool { facts.withLock { $0.isTagged } }

    /// What its users should know about it.
    var limitations: [String] {
        [recordType.limitation, isTagged ? nil : Self.lacksTag].compactMap(\.self)
    }

    /// The directory that names lead into, as far as is known.
    var identity: Identity { facts.withLock { $0.identity } }

    /// Whether the path still leads to this directory: one stat(2), about 0.6 µs. If that fails for another reason
    /// than a missing path, the answer is yes.
    var isInPlace: Bool { isInPlace(identity) }

    /// Whether both the path and names lead into that directory.
    func isInPlace(_ place: Identity) -> Bool {
        do {
            return try Identity(kernel.status(ofPath: path)) == place && identity == place
        } catch {
            return error != .noSuchFileOrDirectory && error != .notDirectory
        }
    }

    /// Whether the path leads to something else.
    var isReplaced: Bool {
        let other = ifPossible { () throws(Errno) in
            Identity(try kernel.status(ofPath: path))
        }
        return other.map { $0 != identity } ?? false
    }

    /// Takes over the directory that the path leads to now, after this one was replaced. If this one was deleted
    /// and the path leads nowhere, makes a new one. A directory that was moved away can come back.
    ///
    /// - Parameter prepare: called once names lead into the new directory, and before ``isInPlace`` says so.
    func adopt(_ prepare: () -> Void) throws(CacheError) {
        if isDeleted { try Self.makeLast(path, mode: mode, kernel) }
        let opened = try Opened(path, kernel)
        // All users of these descriptors continue in the new directory.
        clinux_replace(descriptor, opened.directory)
        clinux_replace(lockDescriptor, opened.lock)
        close(opened.directory)
        close(opened.lock)
        facts.withLock { facts in
            let old = facts.identity
            facts = opened.facts
            facts.identity = old
        }
        records.opened()
        prepare()
        facts.withLock { $0 = opened.facts }
    }

    /// Whether no name leads to it any more. fstat(2), `st_nlink`.
    var isDeleted: Bool {
        ifPossible { () throws(Errno) in try kernel.status(of: descriptor).st_nlink } == 0
    }

    /// Whether its file system is mounted for writing. statfs(2), `ST_RDONLY`.
    var isWritable: Bool {
        ifPossible { () throws(Errno) in try kernel.fileSystem(of: descriptor).f_flags & 1 } == 0
    }

    // MARK: Changing

    static func partialName(of key: CacheKey) -> String {
        key.description + DirectoryName.partialSuffix
    }

    /// Writes the time of last use into a file without opening it. A missing file is no error. utimensat(2).
    func setLastUse(_ time: FileTime, of key: CacheKey) throws(Errno) {
        do {
            try kernel.setAccessTime(time, of: key.description, in: descriptor)
        } catch .noSuchFileOrDirectory {
            return
        }
    }

    /// Removes an entry. A missing file is no error. If the file has other names, the attributes of this one go with
    /// it. unlinkat(2).
    ///
    /// - Parameter mayBeLinked: whether the file may have other names. Looking costs half as much as the removal.
    func unlink(_ key: CacheKey, mayBeLinked: Bool = true) throws(Errno) {
        let linked = mayBeLinked ? linkedFile(toRemove: key) : nil
        try unlinkIfPresent(key.description)
        if let linked { removeAttributes(of: key, from: linked) }
        records.removed(key)
    }

    /// Removes a partial. A missing file is no error. unlinkat(2).
    func discardPartial(of key: CacheKey) throws(Errno) {
        try unlinkIfPresent(Self.partialName(of: key))
    }

    func unlinkIfPresent(_ name: String) throws(Errno) {
        do {
            try kernel.unlink(name, in: descriptor)
        } catch .noSuchFileOrDirectory {
            return
        }
    }
}

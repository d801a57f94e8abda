import CLinux
import Glibc
internal import SystemPackage

/// Every system call the cache directory makes, as thin typed functions.
///
/// Interrupted calls are repeated here and nowhere else. A ``FaultPlan`` makes chosen calls fail, so
/// that tests can walk through every failure a manual page lists.
struct Kernel: Sendable {
    /// What shall fail; `nil` outside tests.
    var faults: FaultPlan?
    /// Shared by all copies.
    let fullDisk = FullDisk()

    init(faults: FaultPlan? = nil) {
        self.faults = faults
    }

    /// Opens a name inside a directory without following a link. openat(2).
    func open(
        _ name: String, in directory: Int32, _ flags: Int32, mode: mode_t = 0
    ) throws(Errno) -> Int32 {
        try call(.openat) {
            Glibc.openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode)
        }
    }

    /// Makes a file without a name in a directory, which is gone with its last descriptor unless it is given
    /// one. open(2), `O_TMPFILE`.
    func makeUnnamed(in directory: Int32, mode: mode_t) throws(Errno) -> Int32 {
        try open(".", in: directory, O_RDWR | clinux_o_tmpfile, mode: mode)
    }

    /// Opens a directory by path. open(2).
    func openDirectory(_ path: String) throws(Errno) -> Int32 {
        try call(.openat) { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    }

    /// Makes a directory. mkdir(2).
    func makeDirectory(_ path: String, mode: mode_t) throws(Errno) {
        _ = try call(.mkdir) { Glibc.mkdir(path, mode) }
    }

    /// Appends all of `rest`; what a failure leaves of it was not written. write(2).
    func write(_ rest: inout UnsafeRawBufferPointer, to descriptor: Int32) throws(Errno) {
        while !rest.isEmpty {
            let chunk = rest
            let written = try call(.write) {
                Glibc.write(descriptor, chunk.baseAddress, chunk.count)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        }
    }

    /// Reads from a place of an open file as much as fits, or as there is. pread(2).
    func read(
        _ descriptor: Int32, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        try call(.pread) {
            Glibc.pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
        }
    }

    /// Appends a text. write(2).
    func write(_ text: String, to descriptor: Int32) throws(Errno) {
        try Array(text.utf8).withUnsafeBufferPointer { (bytes) throws(Errno) in
            var rest = UnsafeRawBufferPointer(bytes)
            try write(&rest, to: descriptor)
        }
    }

    /// Reads from a descriptor that does not block; `nil` when there is nothing now. read(2).
    func readNow(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int? {
        do {
            return try call(.read) { Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
        } catch .wouldBlock {
            return nil
        }
    }

    /// The next name of an open directory; `nil` at its end. readdir(3), getdents64(2).
    func nextEntry(_ stream: OpaquePointer) throws(Errno) -> UnsafeMutablePointer<dirent>? {
        if let fault = faults?.next(.getdents), fault != .interrupted { throw fault }
        while true {
            // The end is told from a failure by this alone.
            errno = 0
            if let entry = readdir(stream) { return entry }
            let cause = Errno(rawValue: errno)
            if cause.rawValue == 0 { return nil }
            if cause != .interrupted { throw cause }
        }
    }

    /// A counter to wake a thread by. eventfd(2).
    func eventDescriptor() throws(Errno) -> Int32 {
        try call(.eventfd) { eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC)) }
    }

    /// The facts of an open file. fstat(2).
    func status(of descriptor: Int32) throws(Errno) -> stat {
        var status = stat()
        _ = try call(.fstat) { Glibc.fstat(descriptor, &status) }
        return status
    }

    /// The facts of a name in a directory, of the link itself where it is one. fstatat(2).
    func status(of name: UnsafePointer<CChar>, in directory: Int32) throws(Errno) -> stat {
        var status = stat()
        _ = try call(.fstatat) {
            Glibc.fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW)
        }
        return status
    }

    /// The facts of a path, following links. stat(2).
    func status(ofPath path: String) throws(Errno) -> stat {
        var status = stat()
        _ = try call(.fstatat) { Glibc.fstatat(AT_FDCWD, path, &status, 0) }
        return status
    }

    /// Sets an extended attribute of an open file. fsetxattr(2).
    func setAttribute(_ name: String, _ value: String, of descriptor: Int32) throws(Errno) {
        // Handed over by themselves, strings would be copied first.
        _ = try call(.fsetxattr) {
            name.withCString { name in
                value.withCString { CLinux.fsetxattr(descriptor, name, $0, value.utf8.count, 0) }
            }
        }
    }

    /// Reads an extended attribute of a name in a directory into `buffer`, without opening the file and so
    /// without counting as its use; returns the bytes read. getxattrat(2), lgetxattr(2).
    func attribute(
        _ attribute: String, of name: UnsafePointer<CChar>, in directory: Int32,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        try call(.getxattr) {
            clinux_getxattrat(directory, name, attribute, buffer.baseAddress, buffer.count)
        }
    }

    /// Reads an extended attribute of an open file into `buffer`; returns the bytes read. fgetxattr(2).
    func attribute(
        _ name: String, of descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        try call(.getxattr) {
            CLinux.fgetxattr(descriptor, name, buffer.baseAddress, buffer.count)
        }
    }

    /// Removes an extended attribute of an open file. fremovexattr(2).
    func removeAttribute(_ name: String, of descriptor: Int32) throws(Errno) {
        _ = try call(.fremovexattr) { CLinux.fremovexattr(descriptor, name) }
    }

    /// Sets the permission bits of an open file, whatever the umask says. fchmod(2).
    func setMode(_ mode: mode_t, of descriptor: Int32) throws(Errno) {
        _ = try call(.fchmod) { Glibc.fchmod(descriptor, mode) }
    }

    /// Sets when a file was last read, of the link itself where it is one; nothing else of it changes but
    /// its ctime. utimensat(2).
    func setAccessTime(
        _ time: FileTime, of name: UnsafePointer<CChar>, in directory: Int32
    ) throws(Errno) {
        let times = [time.specification, Self.unchanged]
        _ = try call(.utimensat) {
            Glibc.utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW)
        }
    }

    /// The same of an open file. futimens(3).
    func setAccessTime(_ time: FileTime, of descriptor: Int32) throws(Errno) {
        let times = [time.specification, Self.unchanged]
        _ = try call(.utimensat) { Glibc.futimens(descriptor, times) }
    }

    /// Sets when an open file was last written, and nothing else but its ctime. futimens(3).
    func setModificationTime(_ time: FileTime, of descriptor: Int32) throws(Errno) {
        let times = [Self.unchanged, time.specification]
        _ = try call(.utimensat) { Glibc.futimens(descriptor, times) }
    }

    /// `UTIME_OMIT`, which is a macro Swift does not see.
    private static var unchanged: timespec { timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2) }

    /// What the file system of an open file says of itself. fstatfs(2).
    func fileSystem(of descriptor: Int32) throws(Errno) -> statfs {
        var facts = statfs()
        _ = try call(.statfs) { fstatfs(descriptor, &facts) }
        return facts
    }

    /// Drops a file's clean pages from memory. posix_fadvise(2), `POSIX_FADV_DONTNEED`.
    func dropPages(of descriptor: Int32) throws(Errno) {
        _ = try call(.fadvise) {
            errno = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
            return errno == 0 ? 0 : -1
        }
    }

    /// Writes a file's data and metadata to the disk. Never repeated after a failure: the pages are
    /// clean by then and a second call would lie. fsync(2).
    func synchronize(_ descriptor: Int32) throws(Errno) {
        _ = try call(.fsync) { Glibc.fsync(descriptor) }
    }

    /// Makes the names in a directory durable. Some file systems can't sync a directory, and then don't
    /// need it. fsync(2).
    func synchronizeNames(in directory: Int32) throws(Errno) {
        do {
            try synchronize(directory)
        } catch .invalidArgument {
            return
        }
    }

    /// Writes all of a file system to the disk. syncfs(2).
    func synchronizeFileSystem(_ descriptor: Int32) throws(Errno) {
        _ = try call(.syncfs) { clinux_sync_file_system(descriptor) }
    }

    /// Fails where something of an open file could not be written, by whomever; writes nothing. It is told
    /// once, like a failure of fsync(2), and no sync afterwards would fail. sync_file_range(2).
    func waitForWriteback(_ descriptor: Int32) throws(Errno) {
        _ = try call(.syncFileRange) { clinux_wait_for_writeback(descriptor) }
    }

    /// Renames within one directory, replacing what is there. renameat(2).
    func rename(_ old: String, to new: String, in directory: Int32) throws(Errno) {
        _ = try call(.rename) { Glibc.renameat(directory, old, directory, new) }
    }

    /// Gives a file that was made without a name its first one, where nothing has that name. linkat(2).
    func link(_ descriptor: Int32, to name: String, in directory: Int32) throws(Errno) {
        _ = try call(.linkat) { name.withCString { clinux_link_file(descriptor, directory, $0) } }
    }

    /// Removes a name that is not a directory. unlinkat(2).
    func unlink(_ name: String, in directory: Int32) throws(Errno) {
        _ = try call(.unlinkat) { Glibc.unlinkat(directory, name, 0) }
    }

    /// Cuts or extends an open file. ftruncate(2).
    func truncate(_ descriptor: Int32, to size: Int64) throws(Errno) {
        _ = try call(.ftruncate) { Glibc.ftruncate(descriptor, off_t(size)) }
    }

    /// Takes the exclusive lock of an open file, or throws `wouldBlock` at once. flock(2).
    func lock(_ descriptor: Int32) throws(Errno) {
        _ = try call(.flock) { clinux_flock(descriptor, LOCK_EX | LOCK_NB) }
    }

    /// Makes room for so many descriptors in the kernel's table of this process's, where they are allowed.
    /// It grows by itself; but in a process of several threads whoever opens a file then waits for all
    /// processors to have looked, which takes some 10 ms. fcntl(2), `F_DUPFD_CLOEXEC`.
    func growDescriptorTable(to count: Int, _ descriptor: Int32) {
        let highest = fcntl(descriptor, F_DUPFD_CLOEXEC, CInt(clamping: count))
        if highest >= 0 { close(highest) }
    }

    /// Runs one call, again while it is interrupted; a planned fault comes in its place.
    func call<Result: FixedWidthInteger>(
        _ name: SyscallName, _ body: () -> Result
    ) throws(Errno) -> Result {
        if let fault = faults?.next(name), fault != .interrupted { throw fault }
        while true {
            let result = body()
            if result != -1 { return result }
            let errno = Errno(rawValue: Glibc.errno)
            if errno != .interrupted { throw errno }
        }
    }
}

import CLinux
import CacheValues
import Glibc
internal import SystemPackage

/// Every system call the cache directory makes, as thin typed functions.
///
/// Interrupted calls are repeated here and nowhere else. A ``FaultPlan`` makes chosen calls fail, so that tests
/// cover every failure that a manual page lists.
struct Kernel: Sendable {
    /// The calls that have to fail; `nil` outside tests.
    var faults: FaultPlan?
    /// Shared by all copies.
    let diskSpaceLock = DiskSpaceLock()

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

    /// Makes a file without a name. Unless it gets one, it is gone when its last descriptor is closed. open(2),
    /// `O_TMPFILE`.
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

    /// Appends the bytes of `rest` and removes from it those that were written. write(2).
    func write(_ rest: inout UnsafeRawBufferPointer, to descriptor: Int32) throws(Errno) {
        while !rest.isEmpty {
            let chunk = rest
            let written = try call(.write) {
                Glibc.write(descriptor, chunk.baseAddress, chunk.count)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        }
    }

    /// Reads from an offset of an open file, until the buffer is full or the file ends. pread(2).
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

    /// Reads from a descriptor that does not block; `nil` if there is nothing to read now. read(2).
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
            // Only errno distinguishes the end from a failure.
            errno = 0
            if let entry = readdir(stream) { return entry }
            let cause = Errno(rawValue: errno)
            if cause.rawValue == 0 { return nil }
            if cause != .interrupted { throw cause }
        }
    }

    /// A counter that wakes a thread. eventfd(2).
    func eventDescriptor() throws(Errno) -> Int32 {
        try call(.eventfd) { eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC)) }
    }

    /// The status of an open file. fstat(2).
    func status(of descriptor: Int32) throws(Errno) -> stat {
        var status = stat()
        _ = try call(.fstat) { Glibc.fstat(descriptor, &status) }
        return status
    }

    /// The status of a name in a directory; for a symbolic link, of the link itself. fstatat(2).
    func status(of name: UnsafePointer<CChar>, in directory: Int32) throws(Errno) -> stat {
        var status = stat()
        _ = try call(.fstatat) {
            Glibc.fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW)
        }
        return status
    }

    /// The status of a path, following links. stat(2).
    func status(ofPath path: String) throws(Errno) -> stat {
        var status = stat()
        _ = try call(.fstatat) { Glibc.fstatat(AT_FDCWD, path, &status, 0) }
        return status
    }

    /// Sets an extended attribute of an open file. fsetxattr(2).
    func setAttribute(_ name: String, _ value: String, of descriptor: Int32) throws(Errno) {
        // Passing the strings themselves would copy them first.
        _ = try call(.fsetxattr) {
            name.withCString { name in
                value.withCString { CLinux.fsetxattr(descriptor, name, $0, value.utf8.count, 0) }
            }
        }
    }

    /// Sets a binary extended attribute of an open file. fsetxattr(2).
    func setAttribute(_ name: String, _ value: [UInt8], of descriptor: Int32) throws(Errno) {
        _ = try call(.fsetxattr) {
            CLinux.fsetxattr(descriptor, name, value, value.count, 0)
        }
    }

    /// Sets an extended attribute of a file that a descriptor only refers to. setxattr(2) through /proc/self/fd.
    func setAttribute(
        _ name: String, _ value: [UInt8], ofReferred path: String
    ) throws(Errno) {
        _ = try call(.setxattr) { CLinux.setxattr(path, name, value, value.count, 0) }
    }

    /// Reads an extended attribute of a name in a directory into `buffer`; returns the bytes read. It does not open
    /// the file, so it does not count as a use. getxattrat(2), lgetxattr(2).
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

    /// Removes an extended attribute of a file that a descriptor only refers to. removexattr(2) through /proc/self/fd.
    func removeAttribute(_ name: String, ofReferred path: String) throws(Errno) {
        _ = try call(.removexattr) { CLinux.removexattr(path, name) }
    }

    /// Makes an open file share the blocks of another one, as long as neither is written to. ioctl(2), `FICLONE`.
    func clone(_ original: Int32, to copy: Int32) throws(Errno) {
        _ = try call(.ficlone) { clinux_clone(original, copy) }
    }

    /// Sets the permission bits of an open file, whatever the umask says. fchmod(2).
    func setMode(_ mode: mode_t, of descriptor: Int32) throws(Errno) {
        _ = try call(.fchmod) { Glibc.fchmod(descriptor, mode) }
    }

    /// Sets when a file was last read; for a symbolic link, when the link was. Apart from that, only the ctime
    /// changes. utimensat(2).
    func setAccessTime(
        _ time: FileTime, of name: UnsafePointer<CChar>, in directory: Int32
    ) throws(Errno) {
        let times = [time.specification, Self.unchanged]
        _ = try call(.utimensat) {
            Glibc.utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW)
        }
    }

    /// Sets when an open file was last read. futimens(3).
    func setAccessTime(_ time: FileTime, of descriptor: Int32) throws(Errno) {
        let times = [time.specification, Self.unchanged]
        _ = try call(.utimensat) { Glibc.futimens(descriptor, times) }
    }

    /// Sets when an open file was last written. Apart from that, only the ctime changes. futimens(3).
    func setModificationTime(_ time: FileTime, of descriptor: Int32) throws(Errno) {
        let times = [Self.unchanged, time.specification]
        _ = try call(.utimensat) { Glibc.futimens(descriptor, times) }
    }

    /// `UTIME_OMIT`, which is a macro Swift does not see.
    private static var unchanged: timespec { timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2) }

    /// The status of the file system of an open file. fstatfs(2).
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

    /// Writes a file's data and metadata to the disk. Never repeated after a failure: the kernel marks the pages
    /// clean, so a second call would succeed without writing them. fsync(2).
    func synchronize(_ descriptor: Int32) throws(Errno) {
        _ = try call(.fsync) { Glibc.fsync(descriptor) }
    }

    /// Makes the names in a directory durable. File systems that can't sync a directory don't need it. fsync(2).
    func synchronizeNames(in directory: Int32) throws(Errno) {
        do {
            try synchronize(directory)
        } catch .invalidArgument {
            return
        }
    }

    /// Writes the whole file system to the disk. syncfs(2).
    func synchronizeFileSystem(_ descriptor: Int32) throws(Errno) {
        _ = try call(.syncfs) { clinux_sync_file_system(descriptor) }
    }

    /// Waits for the pages of an open file that are being written, and writes nothing. Fails if bytes of the file
    /// could not be written, by this call or an earlier sync. Like fsync(2), it reports a loss once; a later sync
    /// would succeed. sync_file_range(2).
    func waitForWriteback(_ descriptor: Int32) throws(Errno) {
        _ = try call(.syncFileRange) { clinux_wait_for_writeback(descriptor) }
    }

    /// Renames within one directory, replacing what is there. renameat(2).
    func rename(_ old: String, to new: String, in directory: Int32) throws(Errno) {
        _ = try call(.rename) { Glibc.renameat(directory, old, directory, new) }
    }

    /// Renames within one directory, if nothing has the new name. Returns `false` if something has it, or if the file
    /// system cannot check in the same step. renameat2(2), `RENAME_NOREPLACE`.
    func renameAsNew(_ old: String, to new: String, in directory: Int32) throws(Errno) -> Bool {
        do {
            _ = try call(.rename) { clinux_rename_new(directory, old, new) }
            return true
        } catch .fileExists, .invalidArgument {
            return false
        }
    }

    /// Gives an open file another name, or its first one. Fails if something has that name. linkat(2).
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

    /// Takes the exclusive lock of an open file. If another process has it, throws `wouldBlock` at once. flock(2).
    func lock(_ descriptor: Int32) throws(Errno) {
        _ = try call(.flock) { clinux_flock(descriptor, LOCK_EX | LOCK_NB) }
    }

    /// Takes the write lock of a whole open file, which belongs to the open file and not to the process. It goes with
    /// the last descriptor, however the process ends. fcntl(2), `F_OFD_SETLK`.
    func hold(_ descriptor: Int32) throws(Errno) {
        _ = try call(.fcntl) { clinux_hold(descriptor) }
    }

    /// Grows this process's table of descriptors to a number of them, as far as the limits allow. It also grows by
    /// itself. But in a process with several threads, the thread that opens a file then waits for a grace period of
    /// all processors, which takes some 10 ms. fcntl(2), `F_DUPFD_CLOEXEC`.
    func growDescriptorTable(to count: Int, _ descriptor: Int32) {
        let highest = fcntl(descriptor, F_DUPFD_CLOEXEC, CInt(clamping: count))
        if highest >= 0 { close(highest) }
    }

    /// Makes a system call, and repeats it if it is interrupted. A planned fault replaces the call.
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

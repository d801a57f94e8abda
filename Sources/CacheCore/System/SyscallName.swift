/// The system calls a ``FaultPlan`` can make fail.
enum SyscallName: Sendable, Hashable, CaseIterable {
    case openat, mkdir, flock, fcntl, ftruncate, write, read, pread, fsync, syncfs, rename, linkat,
        unlinkat
    case syncFileRange
    case fstat, fstatat, statfs, getdents, inotify, eventfd, fadvise
    case fsetxattr, setxattr, getxattr, fremovexattr, removexattr, ficlone, fchmod, utimensat
}

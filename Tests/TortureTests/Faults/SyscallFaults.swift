/// The system calls of each thread of the daemon, and the errors they can return according to the manual
/// pages.
///
/// The event loop only gets errors that it can survive. NIO ends the process if epoll_wait(2) fails with
/// anything but EINTR. Reads never return EAGAIN, because NIO's debug builds assert that a readable
/// descriptor has data. Writes don't either, because other threads wake the loop by writing to a counter
/// (eventfd(2)). Calls that this strace(1) does not know, such as getxattrat(2), are made to fail inside
/// the process instead.
struct SyscallFaults: Sendable {
    /// The beginning of the thread's name.
    let thread: String
    /// The name strace(1) uses, or a pattern if the name differs between systems.
    let call: String
    let errnos: [String]

    private static let looking = "/^(new)?fstat(at)?$"
    private static let renaming = "/^renameat"
    private static let linkErrors = "EIO ENOSPC EDQUOT EROFS EACCES ENOMEM EPERM"

    static let all: [SyscallFaults] = [
        // Downloads.
        .init("transfers", "openat", "EMFILE ENFILE ENOMEM EACCES EROFS EIO ENOSPC EDQUOT EINTR"),
        .init("bytes", "write", "EIO ENOSPC EDQUOT EFBIG EINTR"),
        .init("transfers", looking, "EIO ENOMEM EACCES"),
        .init("transfers", "fstatfs", "EIO ENOMEM EINTR ENOSYS"),
        .init("transfers", "socket", "EMFILE ENFILE ENOBUFS ENOMEM EACCES"),
        .init("transfers", "connect", "ECONNREFUSED ENETUNREACH EADDRNOTAVAIL ETIMEDOUT EAGAIN"),
        .init("transfers", "sendto", "ECONNRESET EPIPE ENOBUFS ENOMEM EINTR EAGAIN"),
        .init("transfers", "recvfrom", "ECONNRESET ETIMEDOUT ENOMEM EINTR EAGAIN"),
        .init("transfers", "epoll_ctl", "ENOMEM ENOSPC"),
        .init("transfers", "epoll_wait", "EINTR"),
        // Images that arrived in one piece, their names and attributes.
        .init("directory", "openat", "EMFILE ENFILE ENOMEM EACCES EROFS EIO ENOSPC EDQUOT EINTR"),
        .init("directory", "write", "EIO ENOSPC EDQUOT EFBIG EINTR"),
        .init("directory", "fsync", "EIO ENOSPC EDQUOT EROFS"),
        .init("directory", renaming, "EIO ENOSPC EDQUOT EROFS EACCES ENOMEM EBUSY"),
        .init("directory", "linkat", linkErrors),
        .init("directory", "fsetxattr", "ENOSPC EDQUOT EIO EPERM EROFS"),
        .init("directory", "unlinkat", "EPERM EBUSY EIO EROFS EACCES"),
        .init("directory", "utimensat", "EACCES EPERM EROFS"),
        .init("directory", looking, "EIO ENOMEM EACCES"),
        // Periodic maintenance.
        .init("maintenance", "poll", "EINTR ENOMEM EINVAL"),
        .init("maintenance", "read", "EINTR EIO"),
        // The event loop.
        .init("NIO-ELT", "epoll_wait", "EINTR"),
        .init("NIO-ELT", "accept4", "EINTR EMFILE ENFILE ECONNABORTED ENOBUFS ENOMEM"),
        .init("NIO-ELT", "read", "EINTR"),
        .init("NIO-ELT", "/^writev?$", "EINTR"),
        .init("NIO-ELT", looking, "EIO ENOMEM EACCES"),
    ]

    private init(_ thread: String, _ call: String, _ errnos: String) {
        self.thread = thread
        self.call = call
        self.errnos = errnos.split(separator: " ").map(String.init)
    }

    /// Calls made for many images at once.
    static let ofCommits: [SyscallFaults] = [
        .init("commit", "syncfs", "EIO ENOSPC EDQUOT"),
        .init("commit", "sync_file_range", "EIO ENOMEM ENOSPC"),
        .init("commit", "fsync", "EIO ENOSPC EDQUOT EROFS"),
        .init("commit", renaming, "EIO ENOSPC EDQUOT EROFS EACCES ENOMEM EBUSY"),
        .init("commit", "linkat", linkErrors),
        .init("commit", looking, "EIO ENOMEM EACCES"),
    ]

    /// Calls that only the start of the daemon makes, not the loading of the program.
    static let atStart: [SyscallFaults] = [
        .init("", "/^mkdir", "EACCES EDQUOT ENOMEM ENOSPC EROFS"),
        .init("", "flock", "EINTR ENOLCK"),
        .init("", "ftruncate", "EINTR EIO EPERM"),
        .init("", "fsync", "EIO ENOSPC EDQUOT EROFS"),
        .init("", "fsetxattr", "ENOSPC EDQUOT EIO EPERM"),
        .init("", "linkat", "EPERM EACCES ENOENT EIO"),
        .init("", "fstatfs", "EIO ENOMEM EINTR"),
        .init("", "getdents64", "EIO EINTR"),
        .init("", "inotify_init1", "EMFILE ENFILE ENOMEM"),
        .init("", "inotify_add_watch", "ENOMEM ENOSPC EACCES"),
        .init("", "socketpair", "EMFILE ENFILE"),
        .init("", "bind", "EACCES EROFS ENOMEM ENOSPC"),
        .init("", "/^fchmodat|^chmod", "EACCES EIO EROFS"),
        .init("", "listen", "EADDRINUSE"),
        .init("", "prlimit64", "EPERM"),
    ]
}

internal import SystemPackage

extension Errno {
    /// Whether bytes, inodes or the quota are used up.
    var isFullDisk: Bool { self == .noSpace || self == .diskQuotaExceeded }

    /// Advice for a person, about a call that failed with this error.
    var remedy: String {
        switch self {
        case .noSpace, .diskQuotaExceeded:
            "free space or inodes on the file system (or raise the quota), or unpin images, which are then evicted"
        case .tooManyOpenFiles: "raise the limit of open files (ulimit -n)"
        case .tooManyOpenFilesInSystem: "raise the machine's limit of open files (fs.file-max)"
        case .noMemory: "memory is short; try again"
        case .readOnlyFileSystem: "the file system is read-only; mount it for writing"
        case .permissionDenied, .notPermitted:
            "make the daemon's user the owner of the directory and its files, with write permission"
        case .ioError: "check the disk and the kernel's log, and try again"
        default: "try again; if that does not help, choose another directory with --directory"
        }
    }
}

internal import SystemPackage

extension Errno {
    /// There is no room: by bytes, by inodes or by quota.
    var isFullDisk: Bool { self == .noSpace || self == .diskQuotaExceeded }

    /// What a person can do about a call that failed so.
    var remedy: String {
        switch self {
        case .noSpace, .diskQuotaExceeded:
            "free bytes or inodes of the file system, or unpin images"
        case .tooManyOpenFiles: "raise the limit of open files (ulimit -n)"
        case .tooManyOpenFilesInSystem: "raise the machine's limit of open files (fs.file-max)"
        case .noMemory: "memory is short; try again"
        case .readOnlyFileSystem: "the file system is read-only; mount it for writing"
        case .permissionDenied, .notPermitted:
            "let the daemon's user own and write the directory and its files"
        case .ioError: "check the disk, of which the kernel's log says more, and try again"
        default: "try again; if it stays so, choose another directory with --directory"
        }
    }
}

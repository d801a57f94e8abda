import SystemPackage

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

extension SyscallName {
    /// The errors of the call's manual page that the machine can cause. Left out are errors for wrong arguments, and
    /// errors that are ordinary answers (`ENOENT`, `ENODATA`, `ENOTSUP`, `EEXIST`, `EWOULDBLOCK`).
    var errnos: [Errno] {
        switch self {
        case .openat:
            [
                .permissionDenied, .diskQuotaExceeded, .interrupted, .tooManyOpenFiles,
                .tooManyOpenFilesInSystem, .noMemory, .noSpace, .notPermitted, .readOnlyFileSystem,
                .ioError,
            ]
        case .mkdir:
            [.permissionDenied, .diskQuotaExceeded, .noMemory, .noSpace, .readOnlyFileSystem]
        case .flock, .fcntl: [.interrupted, .noLocks]
        case .ftruncate: [.interrupted, .ioError, .notPermitted, .readOnlyFileSystem]
        case .write: [.diskQuotaExceeded, .fileTooLarge, .interrupted, .ioError, .noSpace]
        case .read: [.interrupted, .ioError, .invalidArgument]
        case .pread: [.interrupted, .ioError]
        case .fsync, .syncfs, .syncFileRange:
            [.ioError, .noSpace, .diskQuotaExceeded, .readOnlyFileSystem]
        case .rename:
            [
                .permissionDenied, .resourceBusy, .diskQuotaExceeded, .noMemory, .noSpace,
                .notPermitted, .readOnlyFileSystem, .ioError,
            ]
        case .linkat:
            [
                .permissionDenied, .diskQuotaExceeded, .noMemory, .noSpace, .notPermitted,
                .readOnlyFileSystem, .ioError,
            ]
        case .unlinkat:
            [
                .permissionDenied, .resourceBusy, .ioError, .noMemory, .notPermitted,
                .readOnlyFileSystem,
            ]
        case .fstat: [.noMemory, .ioError]
        case .fstatat: [.permissionDenied, .noMemory, .ioError]
        case .statfs: [.permissionDenied, .interrupted, .ioError, .noMemory, .noFunction]
        case .getdents: [.interrupted, .ioError]
        case .inotify: [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .noSpace]
        case .eventfd: [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory]
        case .fadvise: [.invalidArgument, .ioError]
        case .fsetxattr, .setxattr:
            [.diskQuotaExceeded, .noSpace, .notPermitted, .ioError, .readOnlyFileSystem]
        case .getxattr: [.permissionDenied, .noMemory, .ioError]
        case .fremovexattr, .removexattr:
            [.diskQuotaExceeded, .noSpace, .notPermitted, .ioError, .readOnlyFileSystem]
        case .ficlone: [.noSpace, .ioError, .readOnlyFileSystem, .notPermitted]
        case .fchmod: [.ioError, .notPermitted, .readOnlyFileSystem]
        case .utimensat: [.permissionDenied, .notPermitted, .readOnlyFileSystem, .ioError]
        }
    }
}

import CacheValues
internal import SystemPackage

extension Failure {
    /// A system call that failed to store an image.
    static func storage(_ cause: Errno, path: String) -> Failure {
        switch cause {
        case .isDirectory, .directoryNotEmpty, .fileExists:
            Failure(.obstructed, "there is a directory at \(path); move it away")
        case .noSpace, .diskQuotaExceeded:
            Failure(
                .storage,
                "no room to store \(path): the file system or the quota is full; \(cause.remedy)")
        case .noSuchFileOrDirectory:
            Failure(
                .storage,
                "another program removed the download for \(path) before it was published; try again"
            )
        default:
            Failure(.storage, "\(path) could not be stored: \(cause); \(cause.remedy)")
        }
    }

    /// A system call that failed to read a file or its attributes.
    static func unreadable(_ cause: Errno, path: String) -> Failure {
        Failure(.storage, "\(path) could not be read: \(cause); \(cause.remedy)")
    }
}

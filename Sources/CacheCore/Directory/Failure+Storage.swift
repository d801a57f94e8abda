internal import SystemPackage

extension Failure {
    /// A system call that could not store an image.
    static func storage(_ cause: Errno, path: String) -> Failure {
        switch cause {
        case .isDirectory, .directoryNotEmpty, .fileExists:
            Failure(.obstructed, "a directory lies at \(path); move it away")
        case .noSpace, .diskQuotaExceeded:
            Failure(
                .storage,
                "no room to store \(path): the file system or the quota is full; \(cause.remedy)")
        case .noSuchFileOrDirectory:
            Failure(
                .storage,
                "what was downloaded for \(path) was removed by somebody else before it was an entry; "
                    + "try again")
        default:
            Failure(.storage, "\(path) could not be stored: \(cause); \(cause.remedy)")
        }
    }

    /// A system call that could not look at a file.
    static func unreadable(_ cause: Errno, path: String) -> Failure {
        Failure(.storage, "\(path) could not be looked at: \(cause); \(cause.remedy)")
    }
}

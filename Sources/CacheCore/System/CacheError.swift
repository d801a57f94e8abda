public import SystemPackage

/// The reason why the cache itself cannot work. A ``Failure`` concerns one image only.
///
///     do {
///         let cache = try Cache(settings, logger: logger)
///     } catch {
///         if error.code == .directoryInUse { exit(1) }
///     }
public struct CacheError: Error, CustomStringConvertible {
    /// The class of the error, which decides the exit code of the program.
    public enum Code: Hashable, Sendable {
        /// The directory cannot be created, opened or written.
        case directoryUnusable
        /// Another process uses the directory.
        case directoryInUse
        /// The process has no permission to use the directory.
        case notPermitted
        /// A limit that no cache in this directory can keep.
        case wrongLimit
        /// The machine lacks a library or a feature of the kernel.
        case unsupported
    }

    /// The class of the error.
    public let code: Code
    /// A message for people that names the problem and the remedy.
    public let message: String
    /// The error of the system call, if one failed.
    public let cause: Errno?

    init(_ code: Code, _ message: String, cause: Errno? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message and the cause.
    public var description: String {
        guard let cause else { return message }
        return "\(message) (\(cause))"
    }
}

extension CacheError {
    /// The process cannot get the descriptors that wake its threads.
    static func noDescriptors(_ cause: Errno?) -> CacheError {
        CacheError(
            .unsupported, "no file descriptor available; raise the limit of open files (ulimit -n)",
            cause: cause)
    }
}

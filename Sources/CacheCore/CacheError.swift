public import SystemPackage

/// Why the cache itself cannot do its work, as against one image's ``Failure``.
public struct CacheError: Error, CustomStringConvertible {
    /// What kind of trouble it is; decides the program's exit code.
    public enum Code: Hashable, Sendable {
        /// The directory can't be made, opened or written.
        case directoryUnusable
        /// Another process holds the directory.
        case directoryInUse
        /// Not permitted to use the directory.
        case notPermitted
        /// A limit that can't be kept.
        case wrongLimit
        /// Something the machine lacks: a library, a kernel facility.
        case unsupported
    }

    public let code: Code
    /// What happened, to what, and what to do, for a person.
    public let message: String
    /// What the system call said, if one failed.
    public let cause: Errno?

    init(_ code: Code, _ message: String, cause: Errno? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String {
        guard let cause else { return message }
        return "\(message) (\(cause))"
    }
}

extension CacheError {
    /// The process can't have what its threads are woken by.
    static func noDescriptors(_ cause: Errno?) -> CacheError {
        CacheError(
            .unsupported, "no descriptor to be had; raise the limit of open files (ulimit -n)",
            cause: cause)
    }
}

internal import CClient
internal import ClientCore

/// Why there is no image: a kind for programs, and a sentence for people.
public struct CacheFailure: Error, Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// No daemon has answered for as long as ``ImageCache/Configuration/patience``, or none can be started.
        case noDaemon
        /// This user may not use the directory, the file or the socket.
        case notPermitted
        /// The image has not come within ``ImageRequest/timeout``.
        case deadline
        /// The program does not accept the type of the image: ``ImageRequest/accept``.
        case notAccepted
        /// The task that waited was cancelled.
        case cancelled
        /// The text is not a URL that the cache accepts.
        case invalidURL
        /// The origin has answered with a status that is not success: ``CacheFailure/httpStatus``.
        case http
        /// The origin could not be reached, or the connection failed.
        case network
        /// The bytes are not a complete image of an accepted type.
        case notAnImage
        /// The image is larger than the limits of the cache.
        case tooLarge
        /// The address, the header fields, the digest or the content is not permitted, by the cache or by the origin.
        case refused
        /// The disk is full, or the directory cannot be used.
        case storage
        /// The image was cached and has been evicted or removed.
        case evicted
        /// A kind that this version of the library does not know.
        case other
    }

    public let kind: Kind
    /// What happened, to what, and what to do.
    public let message: String
    /// The status of the origin's response, if there was one (RFC 9110 §15).
    public let httpStatus: Int?
    /// The Unix second at which the daemon tries again; `nil` if it does not.
    public let retryAt: Int64?

    /// Makes a failure, for tests of applications.
    public init(_ kind: Kind, _ message: String, httpStatus: Int? = nil, retryAt: Int64? = nil) {
        self.kind = kind
        self.message = message
        self.httpStatus = httpStatus
        self.retryAt = retryAt
    }

    static func opening(_ path: String, cause: Int32) -> CacheFailure {
        switch cause {
        case ENOENT, ENOTDIR: CacheFailure(.evicted, "\(path) is no longer cached: load it again")
        case EACCES, EPERM, ELOOP:
            CacheFailure(.notPermitted, "cannot open \(path): \(String(cString: strerror(cause)))")
        default: CacheFailure(.storage, "cannot open \(path): \(String(cString: strerror(cause)))")
        }
    }

    /// A call failed; `cause` is a negative errno.
    static func call(_ cause: Int32) -> CacheFailure {
        switch cause {
        case -ECONNREFUSED, -ETIMEDOUT, -ECONNRESET:
            CacheFailure(
                .noDaemon, "no daemon answers: start it with `cached`, or name another socket")
        default:
            CacheFailure(.other, "cannot ask the daemon: \(String(cString: strerror(-cause)))")
        }
    }

    /// `cachectl import` failed; `cause` is a negative errno.
    static func importing(_ path: String, _ cause: Int32) -> CacheFailure {
        switch cause {
        case -ENOENT:
            CacheFailure(.storage, "\(path) or the program `cachectl` is missing; install it")
        case -EINVAL: CacheFailure(.invalidURL, "\(path) cannot be imported: the URL is not valid")
        case -EBADMSG: CacheFailure(.notAnImage, "\(path) is not a whole image")
        case -EPERM:
            CacheFailure(.notPermitted, "this user may not put \(path) into the cache directory")
        default:
            CacheFailure(.other, "cannot import \(path): \(String(cString: strerror(-cause)))")
        }
    }

    /// The daemon answered a call with an error of its interface.
    static func refused(by error: String) -> CacheFailure {
        switch error {
        case "org.varlink.service.PermissionDenied":
            CacheFailure(.notPermitted, "the daemon does not permit this user to do that")
        case "io.cached.Cache.ShuttingDown":
            CacheFailure(.noDaemon, "the daemon is stopping: call again when it is back")
        default: CacheFailure(.other, "the daemon refuses the call: \(error)")
        }
    }

    init(_ failure: FolderFailure) {
        self.init(Kind(word: "\(failure.kind)"), "\(failure.message)")
    }

    static func notAccepted(_ file: ImageFile) -> CacheFailure {
        CacheFailure(
            .notAccepted,
            "the image is \(file.mediaType ?? ""), which the request does not accept; it stays cached"
        )
    }

    static let afterFork = CacheFailure(
        .other, "the cache belongs to the parent of this process; make another after fork(2)")
    static let longURL = CacheFailure(
        .invalidURL, "the URL is longer than 8,192 bytes; shorten it")
    static let cancelled = CacheFailure(
        .cancelled, "the task that waited for the image was cancelled")
}

extension CacheFailure: CustomStringConvertible {
    public var description: String { message }
}

extension CacheFailure.Kind {
    /// The kind that a word of the daemon names; `docs/lookup/failures.md` has the list.
    init(word: String) {
        self =
            switch word {
            case "noDaemon": .noDaemon
            case "notPermitted": .notPermitted
            case "invalidURL": .invalidURL
            case "deadline": .deadline
            case "notAccepted": .notAccepted
            case "http": .http
            case "unresolved", "unreachable", "timeout", "truncated", "tls", "redirect",
                "protocolError":
                .network
            case "notAnImage", "underivable": .notAnImage
            case "tooLarge": .tooLarge
            case "addressRefused", "digestMismatch", "unverifiable", "invalidHeaders": .refused
            case "storage", "noRoom", "obstructed", "damaged", "tooManyFiles": .storage
            case "notCached", "removed": .evicted
            default: .other
            }
    }
}

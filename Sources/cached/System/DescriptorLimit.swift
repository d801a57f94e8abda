import CacheCore
import Glibc
import Logging

/// The limit of open files, which every connection, transfer and partial download counts against.
enum DescriptorLimit {
    /// The smallest limit the daemon starts with. An event loop that gets no descriptor ends the process.
    private static let minimum: rlim_t = 64

    /// Raises the soft limit to the hard one. Fails if the hard limit is too low. getrlimit(2), `RLIMIT_NOFILE`.
    static func raise(_ logger: Logger) throws(StartFailure) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        guard limit.rlim_max >= minimum else {
            throw StartFailure(
                message:
                    "the hard limit of open files is \(limit.rlim_max), and at least \(minimum) are "
                    + "needed; raise LimitNOFILE= of the service, or nofile in limits.conf",
                exitCode: .cannotCreate)
        }
        limit.rlim_cur = limit.rlim_max
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            logger.warning("cannot raise the limit of open files to its hard limit")
            return
        }
        logger.debug("limit of open files", metadata: ["limit": "\(limit.rlim_cur)"])
    }

    /// How many clients can be connected at once without taking descriptors that downloads need. Downloads get at
    /// most half of all descriptors, unless a single download needs more. One is for the error to a client that is
    /// one too many.
    static func connections(reserving transfers: Int) -> Int {
        guard let all = current else { return .max }
        return max(1, all - reserved(transfers, of: all) - 1)
    }

    /// Lowers the limits of downloads and of images being published, if there are not enough descriptors for them.
    static func apply(to cache: inout CacheSettings, _ logger: Logger) {
        guard let all = current else { return }
        let configured = cache.transfers.transferLimit
        let forWork = reserved(configured, of: all) - perDaemon
        let transfers = min(configured, max(1, forWork / 2 / perTransfer))
        cache.transfers.transferLimit = transfers
        cache.publishingLimit = min(
            cache.publishingLimit, max(minimumPublishing, forWork - perTransfer * transfers))
        guard transfers < configured else { return }
        logger.warning(
            """
            fewer downloads at once because of the hard limit of open files; raise LimitNOFILE= of the \
            service, or nofile in limits.conf
            """,
            metadata: ["downloads": "\(transfers)", "configured": "\(configured)"])
    }

    /// The most descriptors of a download: its connection, a second one that is being tried, and its partial file.
    private static let perTransfer = 3
    /// Descriptors that the daemon always has open, and a few more.
    private static let perDaemon = 32
    /// The smallest limit of images that are published at once.
    private static let minimumPublishing = 8

    /// The descriptors that are not for clients.
    private static func reserved(_ transfers: Int, of all: Int) -> Int {
        let images = CacheSettings(directory: "").publishingLimit
        let enough = max(all / 2, perTransfer + minimumPublishing + perDaemon)
        return min(enough, perTransfer * transfers + images + perDaemon)
    }

    /// The limit; `nil` if the kernel does not report it.
    static var current: Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return nil
        }
        return Int(clamping: limit.rlim_cur)
    }
}

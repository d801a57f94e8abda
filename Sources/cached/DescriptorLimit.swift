import CacheCore
import Glibc
import Logging

/// How many descriptors the process may have open: one for each connection, transfer and partial.
enum DescriptorLimit {
    /// Without so many nothing can be served; and an event loop that gets none ends the process.
    private static let least: rlim_t = 64

    /// Raises the soft limit to the hard one; fails where that is too low to work with. getrlimit(2),
    /// `RLIMIT_NOFILE`.
    static func raise(_ logger: Logger) throws(StartFailure) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        guard limit.rlim_max >= least else {
            throw StartFailure(
                message: "the limit of open files is \(limit.rlim_max), and at least \(least) are "
                    + "needed; raise it (ulimit -n)",
                exitCode: .cannotCreate)
        }
        limit.rlim_cur = limit.rlim_max
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            logger.warning("the limit of open files can't be raised")
            return
        }
        logger.debug("open files limited", metadata: ["limit": "\(limit.rlim_cur)"])
    }

    /// How many clients there may be at once, so that downloads have what they need; these have no more than
    /// half of all, where that is enough for one.
    static func connections(besides transfers: Int) -> Int {
        guard let all = current else { return .max }
        return max(1, all - own(transfers, of: all) - Reception.turn)
    }

    /// Lets no more be downloaded and published at once than there are descriptors for.
    static func apply(to cache: inout CacheSettings, _ logger: Logger) {
        guard let all = current else { return }
        let wanted = cache.transfers.transferLimit
        let own = own(wanted, of: all)
        let ofWork = own - ofDaemon
        let transfers = min(wanted, max(1, ofWork / 2 / ofTransfer))
        cache.transfers.transferLimit = transfers
        cache.publishingLimit = min(
            cache.publishingLimit, max(leastPublished, ofWork - ofTransfer * transfers))
        guard transfers < wanted else { return }
        logger.warning(
            "the limit of open files allows for fewer downloads at once; raise it (ulimit -n)",
            metadata: ["downloads": "\(transfers)", "configured": "\(wanted)"])
    }

    /// Descriptors of a download, at most: its connection, another that is tried, and its partial.
    private static let ofTransfer = 3
    /// What the daemon has open anyway, and some more.
    private static let ofDaemon = 32
    /// Images that may be published at once at least.
    private static let leastPublished = 8

    /// Those that are not for clients.
    private static func own(_ transfers: Int, of all: Int) -> Int {
        let images = CacheSettings(directory: "").publishingLimit
        let enough = max(all / 2, ofTransfer + leastPublished + ofDaemon)
        return min(enough, ofTransfer * transfers + images + ofDaemon)
    }

    /// All there may be; `nil` if the kernel does not say.
    private static var current: Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return nil
        }
        return Int(clamping: limit.rlim_cur)
    }
}

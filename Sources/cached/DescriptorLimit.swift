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

    /// How many clients there may be at once, so that downloads have what they need: three descriptors
    /// each, those of images being published, and some more; but never more than half of all.
    static func connections(besides transfers: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return .max
        }
        let all = Int(clamping: limit.rlim_cur)
        return all - min(all / 2, 3 * transfers + 1100)
    }
}

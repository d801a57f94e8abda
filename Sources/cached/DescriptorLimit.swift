import Glibc
import Logging

/// How many descriptors the process may have open: one for each connection, transfer and partial.
enum DescriptorLimit {
    /// Raises the soft limit to the hard one. getrlimit(2), `RLIMIT_NOFILE`.
    static func raise(_ logger: Logger) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            logger.warning("the limit of open files can't be raised")
            return
        }
        logger.debug("open files limited", metadata: ["limit": "\(limit.rlim_cur)"])
    }
}

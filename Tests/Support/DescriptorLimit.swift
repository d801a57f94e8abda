import Glibc

/// The limit on open descriptors of this process and of each child it starts.
public enum DescriptorLimit {
    /// Raises the soft limit to the hard one and returns it. getrlimit(2), `RLIMIT_NOFILE`.
    public static func raised() throws -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { throw TestFailure.syscall("getrlimit") }
        limit.rlim_cur = limit.rlim_max
        guard setrlimit(resource, &limit) == 0 else { throw TestFailure.syscall("setrlimit") }
        return Int(clamping: limit.rlim_cur)
    }
}

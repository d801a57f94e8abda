import Glibc

/// Images of this process's memory, which the kernel writes when it crashes. core(5)
enum CoreDumps {
    /// No core is written from now on, because one could hold a password. setrlimit(2)
    static func forbid() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
}

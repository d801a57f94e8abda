import Glibc

/// A program that is started and left alone.
enum ChildProcess {
    /// Lets the kernel forget children that have ended. sigaction(2), `SA_NOCLDWAIT`.
    static func forgetEnded() {
        var action = sigaction()
        action.sa_flags = SA_NOCLDWAIT
        sigaction(SIGCHLD, &action, nil)
    }

    /// Whether a program is in the path. access(2).
    static func isInstalled(_ name: String) -> Bool {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return path.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
    }

    /// Starts a program of the path without blocked signals, and returns whether it could be started. posix_spawnp(3).
    static func start(_ words: [String]) -> Bool {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var pipe = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &pipe)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
        var argv = words.map { strdup($0) } + [nil]
        defer { argv.forEach { free($0) } }
        var process = pid_t()
        return posix_spawnp(&process, words[0], nil, &attributes, &argv, environ) == 0
    }
}

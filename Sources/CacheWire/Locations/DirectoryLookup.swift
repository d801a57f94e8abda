import Glibc

/// Finds the cache directory.
public enum DirectoryLookup {
    /// The directory of a daemon that serves the whole machine.
    public static let system = "/var/cache/cached"

    /// Returns the directory in which a daemon keeps its images unless a setting names one: `$CACHE_DIRECTORY`, which a
    /// service manager sets, else `$XDG_CACHE_HOME/cached`, else `~/.cache/cached`.
    ///
    /// - Returns: the directory; `nil` if nothing is set, not even `$HOME`.
    public static func daemonPath(environment: [String: String]) -> String? {
        // systemd.exec(5), `CacheDirectory=`
        environment.nonEmpty("CACHE_DIRECTORY") ?? user(environment)
    }

    /// Returns the directory in which a client finds images: `$CACHED_DIRECTORY`, else that of the machine's daemon or
    /// that of the user, by the same rule by which the client finds the socket.
    ///
    /// `$CACHE_DIRECTORY` is not looked at. In a service it names the directory of that service.
    ///
    /// - Parameters:
    ///   - environment: the result of ``Environment/current()``.
    ///   - exists: whether a path exists.
    public static func clientPath(
        environment: [String: String], exists: (String) -> Bool = isVisible
    ) -> String? {
        if let named = environment.nonEmpty("CACHED_DIRECTORY") { return named }
        let socket = SocketLookup.clientPaths(flag: nil, environment: environment).first(
            where: exists)
        return socket == SocketLookup.system && exists(system) ? system : user(environment)
    }

    /// Whether a path exists, as far as this process sees it. access(2).
    public static func isVisible(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private static func user(_ environment: [String: String]) -> String? {
        environment.absolute("XDG_CACHE_HOME").map { "\($0)/cached" }
            ?? environment.nonEmpty("HOME").map { "\($0)/.cache/cached" }
    }
}

import Glibc

/// Finds the daemon's socket: the flag, `$CACHED_SOCKET`, `$XDG_RUNTIME_DIR/cached/cached.sock` or
/// `/run/cached/cached.sock`, in this order.
///
/// The socket has a directory of its own, which a sandbox can share: a mount of the socket's file
/// itself leads nowhere once the daemon has started again.
public enum SocketLookup {
    /// The socket of a daemon that serves the whole machine.
    public static let system = "/run/cached/cached.sock"

    /// Returns whether a path is that of the system socket, even if its directory does not exist
    /// yet. Different names of the directory count as the same: `/var/run` is often a link to
    /// `/run`.
    public static func isSystem(_ path: String) -> Bool {
        let directory = parent(of: path)
        return resolved(directory) == parent(of: system)
            || (directory.hasSuffix("/cached") && resolved(parent(of: directory)) == "/run")
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// realpath(3).
    private static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Returns the sockets that a client tries, in order.
    ///
    /// - Parameters:
    ///   - flag: the value of `--socket`.
    ///   - environment: the result of ``Environment/current()``.
    /// - Returns: one path if the flag or `$CACHED_SOCKET` is set; otherwise all default paths.
    public static func clientPaths(flag: String?, environment: [String: String]) -> [String] {
        if let given = flag ?? environment.nonEmpty("CACHED_SOCKET") {
            return [given]
        }
        return [user(environment), system].compactMap(\.self)
    }

    /// Returns the socket that a daemon binds.
    ///
    /// - Parameters:
    ///   - flag: the value of `--socket`.
    ///   - environment: the result of ``Environment/current()``.
    public static func daemonPath(flag: String?, environment: [String: String]) -> String {
        flag ?? environment.nonEmpty("CACHED_SOCKET") ?? user(environment) ?? system
    }

    private static func user(_ environment: [String: String]) -> String? {
        environment.absolute("XDG_RUNTIME_DIR").map { "\($0)/cached/cached.sock" }
    }

    /// Whether a path is the default socket of a user's own daemon.
    public static func isUsers(_ path: String, environment: [String: String]) -> Bool {
        path == user(environment)
    }
}

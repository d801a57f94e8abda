import Glibc

/// Where the socket is: the flag, else `$CACHED_SOCKET`, else `$XDG_RUNTIME_DIR/cached.sock`, else
/// `/run/cached/cached.sock`.
public enum SocketLookup {
    /// The socket of a daemon for the whole machine.
    public static let system = "/run/cached/cached.sock"

    /// Whether a socket lies where the one for the whole machine does, or will once its directory is made;
    /// by whatever name, as `/var/run` is another one of `/run`.
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

    /// The sockets a client tries, in this order; one, unless it was told nothing.
    public static func clientPaths(flag: String?, environment: [String: String]) -> [String] {
        if let told = flag ?? environment.nonEmpty("CACHED_SOCKET") {
            return [told]
        }
        return [user(environment), system].compactMap(\.self)
    }

    /// The one socket a daemon binds.
    public static func daemonPath(flag: String?, environment: [String: String]) -> String {
        flag ?? environment.nonEmpty("CACHED_SOCKET") ?? user(environment) ?? system
    }

    private static func user(_ environment: [String: String]) -> String? {
        environment.absolute("XDG_RUNTIME_DIR").map { "\($0)/cached.sock" }
    }
}

import CClient

/// The paths of the cache and of the daemon's socket, by the same rules as `cachectl`.
public enum Places {
    /// The cache directory: that of the machine's daemon if its socket is the first of ``sockets(_:)`` that exists.
    ///
    /// - Parameter socket: the socket that the program names.
    public static func directory(_ given: [UInt8]?, socket: [UInt8]? = nil) -> [UInt8] {
        if let directory = given ?? variable("CACHED_DIRECTORY") { return directory }
        let machine = StaticText.bytes("/var/cache/cached")
        if sockets(socket).first(where: exists) == machineSocket, exists(machine) { return machine }
        if let caches = absolute("XDG_CACHE_HOME") {
            return caches + StaticText.bytes("/cached")
        }
        return (variable("HOME") ?? []) + StaticText.bytes("/.cache/cached")
    }

    /// The sockets to try, in order.
    public static func sockets(_ given: [UInt8]?) -> [[UInt8]] {
        if let socket = given ?? variable("CACHED_SOCKET") { return [socket] }
        var sockets: [[UInt8]] = []
        if let runtime = absolute("XDG_RUNTIME_DIR") {
            sockets.append(runtime + StaticText.bytes("/cached/cached.sock"))
        }
        return sockets + [machineSocket]
    }

    private static var machineSocket: [UInt8] { StaticText.bytes("/run/cached/cached.sock") }

    /// Whether a path exists, as far as this process sees it. lstat(2).
    static func exists(_ path: [UInt8]) -> Bool {
        var file = cclient_file()
        return (path + [0]).withUnsafeBufferPointer { path in
            path.baseAddress.map { cclient_look(cString($0), &file) == 0 } ?? false
        }
    }

    /// Whether `CACHED_START` says that no daemon may be started.
    static var forbidsStart: Bool {
        variable("CACHED_START").map { $0 == StaticText.bytes("no") } ?? false
    }

    static var hasSocketVariable: Bool { variable("CACHED_SOCKET") != nil }

    /// Whether the user's service manager can be asked: its socket exists. systemd(1)
    static var hasServiceManager: Bool {
        guard let runtime = absolute("XDG_RUNTIME_DIR") else { return false }
        return exists(runtime + StaticText.bytes("/systemd/private"))
    }

    /// A variable that is set and not empty. getenv(3).
    private static func variable(_ name: StaticString) -> [UInt8]? {
        guard let value = getenv(cString(name.utf8Start)), value[0] != 0 else { return nil }
        return bytes(value)
    }

    private static func absolute(_ name: StaticString) -> [UInt8]? {
        variable(name).flatMap { $0.first == UInt8(ascii: "/") ? $0 : nil }
    }

    /// The bytes of a C string.
    public static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
        let start = UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self)
        return Array(UnsafeBufferPointer(start: start, count: strlen(text)))
    }
}

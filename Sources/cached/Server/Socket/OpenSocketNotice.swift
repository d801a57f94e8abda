import CLinux
import CacheCore
import Glibc
import Logging

/// A warning at the start: users who may connect to the socket get paths that they may not open.
enum OpenSocketNotice {
    /// The permission bits of a class of users: to connect to the socket, and to search a directory.
    private static let classes: [(name: String, connect: mode_t, search: mode_t)] = [
        ("its group", 0o020, 0o010), ("all users", 0o002, 0o001),
    ]

    static func log(_ settings: Settings, _ logger: Logger) {
        let directory = settings.cache.directory
        for users in classes where settings.socketMode & users.connect != 0 {
            guard let (path, mode) = closed(directory, users.search) else { continue }
            let octal = String(mode, radix: 8)
            logger.warning(
                """
                the socket is open to \(users.name), who cannot open the images; run chmod \
                \(users.search == 0o010 ? "g" : "o")+x on the directory, or set another \
                --socket-mode
                """,
                metadata: [
                    "directory": "\(path)", "mode": "\(octal)",
                    "socket-mode": "\(String(settings.socketMode, radix: 8))",
                ])
            return
        }
    }

    /// The first directory on the path that a class of users may not search, and its mode. path_resolution(7).
    static func closed(_ path: String, _ search: mode_t) -> (path: String, mode: mode_t)? {
        var prefix = ""
        for part in path.split(separator: "/") {
            prefix += "/\(part)"
            var status = stat()
            guard stat(prefix, &status) == 0 else { return nil }
            if status.st_mode & search == 0 { return (prefix, status.st_mode & 0o7777) }
        }
        return nil
    }
}

import CLinux
import CacheCore
import Glibc
import Logging

/// A warning at the start: users who may connect to the socket get paths that they may not open. The files are
/// readable for everybody, so this is about the directories alone.
enum OpenSocketNotice {
    /// Looks at the socket as it is, which may be the service manager's.
    static func log(socket: String, _ directory: String, _ logger: Logger) {
        var file = stat()
        guard stat(socket, &file) == 0 else { return }
        for users in SocketUsers.allCases where file.st_mode & users.connects != 0 {
            guard let (path, mode) = closed(directory, to: users, group: file.st_gid) else {
                continue
            }
            logger.warning(
                """
                the socket is open to \(users.rawValue), who cannot open the images; run \
                \(users.remedy(file.st_gid)) on the directory, or set another --socket-mode
                """,
                metadata: [
                    "directory": "\(path)", "mode": "\(String(mode, radix: 8))",
                    "socket-mode": "\(String(file.st_mode & 0o777, radix: 8))",
                ])
            return
        }
    }

    /// The first directory on the path that these users may not search, and its mode. path_resolution(7).
    private static func closed(
        _ path: String, to users: SocketUsers, group: gid_t
    ) -> (path: String, mode: mode_t)? {
        var prefix = ""
        for part in path.split(separator: "/") {
            prefix += "/\(part)"
            var status = stat()
            guard stat(prefix, &status) == 0 else { return nil }
            guard users.maySearch(status, group: group) else {
                return (prefix, status.st_mode & 0o7777)
            }
        }
        return nil
    }
}

import CLinux
import Glibc

extension Check {
    /// Whether this user may watch a directory for changes. inotify(7).
    static let watches = Check("watches") { examination in
        guard let path = examination.directory, Glibc.access(path, R_OK) == 0 else { return [] }
        switch watchProblem(path) {
        case 0: break
        case EMFILE:
            return [limit("max_user_instances", "the inotify instances of this user are used up")]
        case ENOSPC:
            return [limit("max_user_watches", "the inotify watches of this user are used up")]
        case let number:
            return [
                .wrong(
                    "cannot watch \(path): \(String(cString: strerror(number)))",
                    fix: "name a directory on another file system with --directory")
            ]
        }
        if let events = setting("max_queued_events"), events < leastEvents {
            return [
                .note(
                    "at most \(events) changes of the directory wait for the daemon; if there are "
                        + "more, it reads the directory again",
                    fix: "sysctl fs.inotify.max_queued_events=16384")
            ]
        }
        return [.ok("the directory can be watched for changes")]
    }

    /// The default of the kernel is 16,384.
    private static let leastEvents = 4096

    /// The errno of watching the directory; 0 if it works. inotify_init1(2), inotify_add_watch(2).
    private static func watchProblem(_ path: String) -> Int32 {
        let watch = inotify_init1(Int32(IN_CLOEXEC))
        guard watch >= 0 else { return errno }
        defer { close(watch) }
        return inotify_add_watch(watch, path, UInt32(IN_CREATE)) >= 0 ? 0 : errno
    }

    private static func limit(_ name: String, _ message: String) -> Finding {
        let now = setting(name)
        return .wrong(
            message + (now.map { " (\($0))" } ?? "")
                + ": the daemon inspects each file that it is asked for",
            fix:
                "sysctl fs.inotify.\(name)=\(max(512, 4 * (now ?? 0))), and end programs that hold "
                + "many")
    }

    private static func setting(_ name: String) -> Int? {
        guard let bytes = try? FileBytes.read("/proc/sys/fs/inotify/\(name)") else { return nil }
        return Int(String(decoding: bytes, as: UTF8.self).filter(\.isNumber))
    }
}

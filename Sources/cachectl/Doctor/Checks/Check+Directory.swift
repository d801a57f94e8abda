import CacheWire
import Glibc

extension Check {
    /// Whether the cache directory exists and can be written, and its file system.
    static let directory = Check("directory") { examination in
        guard let path = examination.directory else {
            return [
                .wrong(
                    "HOME is not set, so the cache has no directory", fix: "set CACHED_DIRECTORY")
            ]
        }
        if examination.stats["isDirectoryInPlace"] == false {
            return [
                .wrong(
                    "\(path) is no longer the directory that the daemon opened",
                    fix: "move the directory back, or restart the daemon")
            ]
        }
        guard let facts = FileFacts(path) else {
            let reason = errno
            guard reason == ENOENT, examination.stats.isEmpty else {
                return [
                    .wrong(
                        "cannot look at \(path): \(String(cString: strerror(reason)))",
                        fix: "give this user access to it and to the folders above it")
                ]
            }
            return [.note("\(path) does not exist yet", fix: "start the daemon, which creates it")]
        }
        guard facts.isDirectory else {
            return [.wrong("\(path) is not a directory", fix: "move the file away")]
        }
        guard isWritable(path, examination) else {
            return [
                .wrong(
                    "\(examination.stats.isEmpty ? "this user" : "the daemon") cannot write to \(path)",
                    fix: "mount its file system writable, or name another one with --directory")
            ]
        }
        return [place(path)]
    }

    /// The daemon knows it best. Without one, this user is asked: access(2).
    private static func isWritable(_ path: String, _ examination: Examination) -> Bool {
        guard case .bool(let isWritable)? = examination.stats["isDirectoryWritable"] else {
            return Glibc.access(path, W_OK | X_OK) == 0
        }
        return isWritable
    }

    private static func place(_ path: String) -> Finding {
        guard let system = FileSystem(of: path) else { return .ok("\(path) is writable") }
        if system.isInMemory {
            return .note(
                "\(path) is on \(system.type): the images take memory, and are gone after a boot",
                fix: "name a directory on a disk with --directory, unless that is intended")
        }
        if system.isShared {
            return .note(
                "\(path) is on \(system.type), which does not report what other machines change",
                fix: "name a directory on a disk of this machine with --directory")
        }
        return .ok("\(path) is writable, on \(system.type)")
    }
}

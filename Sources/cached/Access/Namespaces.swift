import CacheCore
import Glibc

/// The namespaces of a process, as far as this process may see them. namespaces(7)
///
/// Which mounts a process sees is known only to a daemon that may look into it: not to one with `--restrict yes`
/// (landlock(7), "Ptrace restrictions"). Everybody sees how a process numbers its users, and a sandbox that needs no
/// privilege numbers them in its own way. user_namespaces(7), `uid_map`.
struct Namespaces: Sendable {
    /// A namespace is the file that stands for it.
    private struct Place: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    private let users: [UInt8]?
    private let mounts: Place?
    /// Whether a program in others is a guest.
    private(set) var haveGuests = true

    /// - Parameter process: the name of its folder in `/proc`.
    init(of process: String) {
        users = Self.contents("/proc/\(process)/uid_map")
        var facts = stat()
        mounts =
            stat("/proc/\(process)/ns/mnt", &facts) == 0
            ? Place(device: facts.st_dev, inode: facts.st_ino) : nil
    }

    /// Those of the programs around the daemon. A service manager may have given the daemon others than its own. The
    /// application of a Flatpak has a sandbox for each of its starts, and shares this daemon among them.
    ///
    /// Has to be called before the daemon restricts itself.
    static func around(_ manager: ServiceManager) -> Namespaces {
        var home = Namespaces(of: manager.isListening ? "\(getppid())" : "self")
        home.haveGuests = access("/.flatpak-info", F_OK) != 0
        return home
    }

    /// Whether one of them is another namespace. What one side does not know says nothing.
    func differ(from other: Namespaces) -> Bool {
        Self.differ(users, other.users) || Self.differ(mounts, other.mounts)
    }

    private static func differ<Value: Equatable>(_ one: Value?, _ other: Value?) -> Bool {
        guard let one, let other else { return false }
        return one != other
    }

    /// The beginning of a file, which is the whole of a usual map; `nil` if it cannot be read.
    private static func contents(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            return count < 0 ? nil : Array(buffer.prefix(count))
        }
    }
}

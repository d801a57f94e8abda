import CLinux
import Glibc

/// The tree of links that `open` makes for viewers, in a folder that only this user can change.
enum PrivateLinks {
    /// The links of images that are gone are removed.
    static func open(cache: String) throws -> LinkTree {
        let path = Self.path
        // In /tmp another user may have made it first.
        guard mkdir(path, 0o700) == 0 || errno == EEXIST, isPrivate(path) else {
            throw CommandFailure(
                status: .notPermitted,
                message: "\(path) is not a folder of this user alone: remove it, or set "
                    + "XDG_RUNTIME_DIR to a folder of yours")
        }
        let tree = try LinkTree(path: path, cache: cache)
        _ = try tree.prune()
        return tree
    }

    private static var path: String {
        let runtime = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
        return runtime.hasPrefix("/") ? "\(runtime)/cachectl" : "/tmp/cachectl-\(geteuid())"
    }

    /// lstat(2).
    private static func isPrivate(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            && status.st_uid == geteuid() && status.st_mode & 0o022 == 0
    }
}

import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// A file that a descriptor refers to without having opened it, so that no program is told of an opening. open(2),
/// `O_PATH`.
final class ReferredFile: Sendable {
    let descriptor: Int32
    /// A path that leads to the file, whatever its name is by now. proc_pid_fd(5)
    let path: String

    init(_ descriptor: Int32) {
        (self.descriptor, path) = (descriptor, "/proc/self/fd/\(descriptor)")
    }

    deinit {
        close(descriptor)
    }

    /// Whether it has an attribute. getxattr(2) through /proc/self/fd.
    func hasAttribute(_ name: String, _ kernel: Kernel) -> Bool {
        getxattr(path, name, nil, 0) >= 0
    }
}

extension CacheDirectory {
    /// The file under a name if it has several names; `nil` if it has one, or nothing has the name.
    func linkedFile(named name: String) throws(Errno) -> ReferredFile? {
        do {
            let file = ReferredFile(try kernel.open(name, in: descriptor, clinux_o_path))
            let status = try kernel.status(of: file.descriptor)
            return status.st_mode & S_IFMT == S_IFREG && status.st_nlink > 1 ? file : nil
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }

    /// The same for a removal, which a failure does not prevent: it leaves attributes that nobody reads.
    func linkedFile(toRemove key: CacheKey) -> ReferredFile? {
        ifPossible { () throws(Errno) in try linkedFile(named: key.description) }
    }
}

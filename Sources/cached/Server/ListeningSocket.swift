import CLinux
import CacheWire
import Glibc
import SystemPackage

/// The daemon's socket in the file system. unix(7).
struct ListeningSocket {
    let path: String
    let descriptor: Int32
    /// The socket's file, to know it again.
    private let inode: ino_t

    /// Longest path, without the NUL that ends it.
    private static let longestPath = 107

    /// Binds the path. A socket nobody listens on is taken over; one that is alive belongs to another
    /// daemon, which the error names.
    ///
    /// - Parameter mode: permission bits; in place before anybody can connect.
    init(path: String, mode: mode_t) throws(StartFailure) {
        guard path.utf8.count <= Self.longestPath else {
            throw StartFailure(
                message: "the socket path \(path) has \(path.utf8.count) bytes, more than the "
                    + "\(Self.longestPath) the system takes; choose a shorter one with --socket",
                exitCode: .cannotCreate)
        }
        try Self.clear(path)
        if path == SocketLookup.system { Self.makeParent(of: path) }
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure("make", path) }
        inode = try Self.bind(descriptor, path, mode)
    }

    /// Removes the socket's name, unless it is another daemon's by now.
    func remove() {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_ino == inode else { return }
        unlink(path)
    }

    private static func bind(
        _ descriptor: Int32, _ path: String, _ mode: mode_t
    ) throws(StartFailure) -> ino_t {
        // The umask keeps everybody out until the mode is what it shall be.
        let usual = umask(0o177)
        let bound = withAddress(path) { Glibc.bind(descriptor, $0, $1) }
        umask(usual)
        guard bound == 0, chmod(path, mode) == 0 else { throw failure("bind", path) }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure("bind", path) }
        return status.st_ino
    }

    /// Makes the directory of the default socket, which is gone after every boot. Where that fails,
    /// binding says why. Another one that is missing is more likely a slip of the pen.
    private static func makeParent(of path: String) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        mkdir(String(path[..<slash]), 0o755)
    }

    /// Makes way for a new socket: only a dead one is removed.
    private static func clear(_ path: String) throws(StartFailure) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw StartFailure(
                message: "\(path) is not a socket; move it away or choose another with --socket",
                exitCode: .cannotCreate)
        }
        // Not blocking: a daemon whose queue is full is alive, and must not hold this one up.
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let probe = socket(AF_UNIX, Int32(type), 0)
        defer { close(probe) }
        let answer = withAddress(path, { connect(probe, $0, $1) })
        guard answer != 0, errno != EAGAIN else {
            throw StartFailure(
                message: "the socket \(path) is in use by process \(peer(of: probe)); stop it, or "
                    + "choose another socket with --socket",
                exitCode: .temporaryFailure)
        }
        guard errno == ECONNREFUSED, unlink(path) == 0 else { throw failure("take over", path) }
    }

    /// The process at the other end. socket(7), `SO_PEERCRED`.
    private static func peer(of descriptor: Int32) -> Int32 {
        var credentials = clinux_peer()
        clinux_peer_of(descriptor, &credentials)
        return credentials.process
    }

    private static func withAddress<Result>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { buffer in
            buffer.copyBytes(from: path.utf8.prefix(buffer.count - 1))
        }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    private static func failure(_ verb: String, _ path: String) -> StartFailure {
        let cause = Errno(rawValue: errno)
        let isForbidden = cause == .permissionDenied || cause == .notPermitted
        return StartFailure(
            message: "cannot \(verb) the socket \(path) (\(cause)); choose another with --socket",
            exitCode: isForbidden ? .notPermitted : .cannotCreate)
    }
}

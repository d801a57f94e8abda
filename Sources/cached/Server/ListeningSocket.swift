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
    /// The directory, locked.
    private let turn: Int32

    /// Longest path, without the NUL that ends it.
    private static let longestPath = 107
    /// Clients that wait to be let in; where the kernel allows fewer, so many. `net.core.somaxconn`
    private static let longestQueue: Int32 = 4096

    /// Binds the path, to be listened on. A socket nobody listens on is taken over; one that is alive
    /// belongs to another daemon, which the error names. Others that want one in this directory wait until
    /// ``isListening()``: what is bound, and not yet listened on, looks dead to them.
    ///
    /// - Parameter mode: permission bits; in place before anybody can connect.
    init(path: String, mode: mode_t) throws(StartFailure) {
        guard path.utf8.count <= Self.longestPath else {
            throw StartFailure(
                message: "the socket path \(path) has \(path.utf8.count) bytes, more than the "
                    + "\(Self.longestPath) the system takes; choose a shorter one with --socket",
                exitCode: .cannotCreate)
        }
        if path == SocketLookup.system { try Self.make(Self.parent(of: path)) }
        turn = Self.takeTurn(in: Self.parent(of: path))
        try Self.clear(path)
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure("make", path) }
        inode = try Self.bind(descriptor, path, mode)
    }

    /// Where everybody finds it, wherever they are. getcwd(3).
    var absolutePath: String {
        guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
        defer { free(directory) }
        return "\(String(cString: directory))/\(path)"
    }

    /// It is alive, as everybody can see: the next may have a turn. And many clients may wait to be let in:
    /// the event loop, which did not bind the socket, listens with a queue of 128. listen(2).
    func isListening() {
        listen(descriptor, Self.longestQueue)
        close(turn)
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

    /// Makes the directory of the default socket, which everybody may search whatever the umask.
    private static func make(_ directory: String) throws(StartFailure) {
        guard mkdir(directory, 0o755) != 0 else { return _ = chmod(directory, 0o755) }
        guard errno != EEXIST else { return }
        throw failure("make the directory of", SocketLookup.system)
    }

    /// The directory of a socket. Only that of the default socket is made, which is gone after every boot:
    /// another one that is missing is more likely a slip of the pen.
    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Waits until no other daemon is about to listen in a directory, and keeps them waiting until the
    /// descriptor is closed. A directory that can't be locked, or stays locked by a stranger, hinders no
    /// start. flock(2).
    private static func takeTurn(in directory: String) -> Int32 {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        for _ in 0..<2500 {
            guard clinux_flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK else {
                break
            }
            usleep(2000)
        }
        return descriptor
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
                message: "the socket \(path) is in use by \(holder(of: probe)) choose another "
                    + "socket with --socket",
                exitCode: .temporaryFailure)
        }
        guard errno == ECONNREFUSED, unlink(path) == 0 else { throw failure("take over", path) }
    }

    /// The process at the other end, and what to do with it; it has no number where it lives in another
    /// namespace. socket(7), `SO_PEERCRED`; pid_namespaces(7).
    private static func holder(of descriptor: Int32) -> String {
        var credentials = clinux_peer()
        clinux_peer_of(descriptor, &credentials)
        switch credentials.process {
        case 0: return "another process; stop it, or"
        case getpid():
            return
                "whoever started this daemon with it (socket activation), which it can't take over;"
        case let process: return "process \(process); stop it, or"
        }
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
            message: "cannot \(verb) the socket \(path) (\(cause)); choose another with --socket"
                + (path == SocketLookup.system ? ", or set XDG_RUNTIME_DIR" : ""),
            exitCode: isForbidden ? .notPermitted : .cannotCreate)
    }
}

import CLinux
import CacheCore
import CacheWire
import Glibc
import SystemPackage

/// The socket that the daemon serves: its own one in the file system, or one that the service manager has passed.
/// unix(7).
struct ListeningSocket {
    let path: String
    let descriptor: Int32
    /// The file of the daemon's own socket; `nil` for a passed one, whose file is the service manager's.
    private let file: File?

    /// The files and directories that the daemon has made.
    private struct File {
        /// The inode of the socket, by which ``ListeningSocket/remove()`` recognises it.
        let inode: ino_t
        /// A descriptor that holds the lock of the socket's directory.
        let directoryLock: Int32
    }

    /// The most clients that wait to be accepted. The kernel may allow fewer: `net.core.somaxconn`.
    private static let longestQueue: Int32 = 4096

    /// Binds the path. A socket that no process listens on is replaced. If a process listens on it, that is another
    /// daemon, which the error names.
    ///
    /// Other daemons that want a socket in this directory wait until ``listen()``: a socket that is bound and
    /// not listened on yet would look dead to them.
    ///
    /// - Parameters:
    ///   - mode: permission bits, which are set before a client can connect.
    ///   - group: the group of the socket's file; `nil` for that of the process.
    ///   - directoryMode: permission bits of the socket's directory, which is made if it is missing; `nil` if it has to
    ///     be there.
    init(
        path: String, mode: mode_t, group: gid_t?, directoryMode: mode_t? = nil
    ) throws(StartFailure) {
        guard let address = UnixAddress(path: path) else {
            throw StartFailure(
                message: "the socket path \(path) has \(path.utf8.count) bytes, more than the "
                    + "\(UnixAddress.longestPath) that the system allows; choose a shorter one with "
                    + "--socket",
                exitCode: .cannotCreate)
        }
        if let directoryMode { try Self.createDirectory(of: path, directoryMode) }
        let lock = Self.lock(Self.parent(of: path))
        try Self.clear(path, address)
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure("create", path) }
        file = File(
            inode: try Self.bind(descriptor, address, mode, group), directoryLock: lock)
    }

    /// A socket that the service manager has made. Its file is left as it is.
    init(_ passed: PassedSocket) {
        (path, descriptor, file) = (passed.path, passed.descriptor, nil)
    }

    /// The path from the root, for processes in other directories. getcwd(3).
    var absolutePath: String {
        guard !path.hasPrefix("/"), file != nil, let directory = getcwd(nil, 0) else { return path }
        defer { free(directory) }
        return "\(String(cString: directory))/\(path)"
    }

    /// Lets clients connect. Other daemons no longer have to wait. A client that is gone again when it is accepted must
    /// not make the daemon wait for the next one. listen(2), accept(2).
    func listen() throws(StartFailure) {
        let flags = fcntl(descriptor, F_GETFL)
        guard fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0,
            Glibc.listen(descriptor, Self.longestQueue) == 0
        else { throw Self.failure("listen on", path) }
        if let file { close(file.directoryLock) }
    }

    /// Removes the file of the daemon's own socket, unless another daemon has replaced it.
    func remove() {
        var status = stat()
        guard let file, lstat(path, &status) == 0, status.st_ino == file.inode else { return }
        unlink(path)
    }

    private static func bind(
        _ descriptor: Int32, _ address: UnixAddress, _ mode: mode_t, _ group: gid_t?
    ) throws(StartFailure) -> ino_t {
        let path = address.text
        // The umask keeps other users out until the mode is set.
        let previous = umask(0o177)
        let bound = address.withPointer { Glibc.bind(descriptor, $0, $1) }
        umask(previous)
        guard bound == 0 else { throw failure("bind", path) }
        if let group, chown(path, uid_t.max, group) != 0 {
            unlink(path)
            throw StartFailure(
                message: "the socket \(path) cannot belong to group \(group) (--socket-group); "
                    + "make the daemon's user a member of the group",
                exitCode: .notPermitted)
        }
        guard chmod(path, mode) == 0 else { throw failure("bind", path) }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure("bind", path) }
        return status.st_ino
    }

    /// Creates the directory of a default socket, whatever the umask is.
    private static func createDirectory(of path: String, _ mode: mode_t) throws(StartFailure) {
        let directory = parent(of: path)
        guard mkdir(directory, mode) != 0 else { return _ = chmod(directory, mode) }
        guard errno != EEXIST else { return }
        throw failure("create the directory of", path)
    }

    /// The directory of a socket. The daemon creates only that of a default socket, which is gone after every
    /// boot. If another directory is missing, the path probably has a typing error.
    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Waits until no other daemon is about to listen in the directory, and makes other daemons wait until the
    /// descriptor is closed. If the directory cannot be locked, or another program keeps it locked, the daemon
    /// starts after five seconds without the lock; at once if that is a program of another user. flock(2).
    private static func lock(_ directory: String) -> Int32 {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        for _ in 0..<2500 {
            guard clinux_flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK,
                !ProcFile.isLockedByStranger(descriptor)
            else { break }
            usleep(2000)
        }
        return descriptor
    }

    /// Removes a socket that no process listens on; fails if there is anything else under the path.
    private static func clear(
        _ path: String, _ address: UnixAddress
    ) throws(StartFailure) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw StartFailure(
                message:
                    "\(path) is not a socket; move it away, or choose another path with --socket",
                exitCode: .cannotCreate)
        }
        // The call must not block: a daemon whose queue is full is alive, and would make this one wait.
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let probe = socket(AF_UNIX, Int32(type), 0)
        defer { close(probe) }
        let answer = address.withPointer { connect(probe, $0, $1) }
        guard answer != 0, errno != EAGAIN else {
            throw StartFailure(
                message: "the socket \(path) is in use by \(holder(of: probe)) choose another "
                    + "path with --socket",
                exitCode: .temporaryFailure)
        }
        guard errno == ECONNREFUSED, unlink(path) == 0 else { throw failure("replace", path) }
    }

    /// The process at the other end, and how to end it. A process in another namespace has no number here.
    /// socket(7), `SO_PEERCRED`; pid_namespaces(7).
    private static func holder(of descriptor: Int32) -> String {
        var credentials = clinux_peer()
        clinux_peer_of(descriptor, &credentials)
        switch credentials.process {
        case 0: return "another process; stop it, or"
        case getpid():
            return
                "the program that started this daemon and did not pass the socket on (LISTEN_FDS, "
                + "LISTEN_PID);"
        case 1: return "the service manager (process 1); start cached.service with systemctl, or"
        case let process: return "process \(process); stop it, or"
        }
    }

    private static func failure(_ verb: String, _ path: String) -> StartFailure {
        let cause = Errno(rawValue: errno)
        let isForbidden = cause == .permissionDenied || cause == .notPermitted
        let remedy = cause == .noSpace ? "free some space, or choose" : "choose"
        return StartFailure(
            message: "cannot \(verb) the socket \(path) (\(cause)); \(remedy) another with --socket"
                + (path == SocketLookup.system ? ", or set XDG_RUNTIME_DIR" : ""),
            exitCode: isForbidden ? .notPermitted : .cannotCreate)
    }
}

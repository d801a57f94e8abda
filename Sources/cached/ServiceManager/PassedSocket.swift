import Glibc

/// A listening socket that the service manager has made and passed to the daemon: socket activation.
/// sd_listen_fds(3), systemd.socket(5).
///
/// The socket's file belongs to the service manager. The daemon neither removes it nor changes its permissions, and
/// clients that connect while the daemon is not running wait in the socket's queue.
struct PassedSocket {
    /// The path, or `@` and a name.
    let path: String
    let descriptor: Int32

    /// The descriptor of the first socket that is passed. sd_listen_fds(3), `SD_LISTEN_FDS_START`.
    private static let first: Int32 = 3

    /// The socket that this process was given; `nil` if there is none. Variables for another process, such as the
    /// parent, do not count.
    static func ofProcess(
        _ environment: [String: String]
    ) throws(StartFailure) -> PassedSocket? {
        guard environment["LISTEN_PID"].flatMap({ pid_t($0) }) == getpid(),
            let count = environment["LISTEN_FDS"].flatMap({ Int($0) }), count > 0
        else { return nil }
        let names = environment["LISTEN_FDNAMES"].map { " (\($0))" } ?? ""
        guard count == 1 else {
            throw wrong("passed \(count) sockets\(names), not one")
        }
        return try PassedSocket(first, name: names)
    }

    private init(_ descriptor: Int32, name: String) throws(StartFailure) {
        // Not for programs that this process may start.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard let domain = Self.option(SO_DOMAIN, of: descriptor) else {
            throw Self.wrong("passed a descriptor\(name) that is no socket")
        }
        guard domain == AF_UNIX, let address = UnixAddress(of: descriptor) else {
            throw Self.wrong("passed a socket\(name) that is not a Unix socket with a path")
        }
        guard Self.option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue) else {
            throw Self.wrong("passed the socket \(address.text)\(name), which is no stream socket")
        }
        guard Self.option(SO_ACCEPTCONN, of: descriptor) == 1 else {
            throw Self.wrong("passed the socket \(address.text)\(name), which does not listen")
        }
        (path, self.descriptor) = (address.text, descriptor)
    }

    /// An option of a socket; `nil` if the descriptor is none. socket(7).
    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }

    private static func wrong(_ problem: String) -> StartFailure {
        .configuration(
            "the service manager \(problem); give cached.socket one ListenStream=PATH and Accept=no"
        )
    }
}

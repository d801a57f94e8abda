internal import CClient
internal import ClientCore
import Glibc

/// A connected Unix stream socket. It owns its descriptor and closes it at the end.
struct SocketConnection: ~Copyable {
    let descriptor: Int32
    /// The path of the connected socket.
    let path: String

    deinit {
        close(descriptor)
    }

    private init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Connects to the first of `paths` at which a process listens.
    static func open(firstOf paths: [String]) throws(ClientError) -> SocketConnection {
        var failures: [ClientError] = []
        for path in paths {
            do throws(ClientError) {
                return try open(path)
            } catch {
                failures.append(error)
            }
        }
        // A socket that exists but refuses the connection is a more useful error than a missing
        // one. All that were tried are named: the first can be that of the user before su(1).
        let tried = Array(zip(paths, failures))
        let refused = tried.filter { $1.code == .notPermitted }.map(\.0)
        if !refused.isEmpty {
            let absent = tried.filter { $1.code == .noDaemon }.map(\.0)
            throw .notPermitted(at: refused, absent: absent)
        }
        if let specific = failures.first(where: { $0.code != .noDaemon }) { throw specific }
        throw .noDaemon(at: paths, cause: failures.first?.cause)
    }

    /// Connects to `path`. socket(2), connect(2).
    static func open(_ path: String) throws(ClientError) -> SocketConnection {
        var address = try address(of: path)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .connecting(to: path, errno: errno) }
        let connection = SocketConnection(descriptor: descriptor, path: path)
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeBytes(of: &address) { bytes in
            connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!, length)
        }
        let failure = errno
        guard result == 0 else { throw .connecting(to: path, errno: failure) }
        return connection
    }

    /// The socket address of a path. The path and its NUL must fit into 108 bytes. unix(7).
    private static func address(of path: String) throws(ClientError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let limit = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard path.utf8.count <= limit else { throw .pathTooLong(path, limit: limit) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return address
    }
}

extension SocketConnection {
    /// Sends all bytes. If the daemon has hung up, this is not an error: the following receive
    /// shows whether the daemon replied before. send(2).
    func send(_ bytes: [UInt8]) throws(ClientError) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.send(
                    descriptor, buffer.baseAddress! + sent, buffer.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                sent += count
            } else if errno == EPIPE || errno == ECONNRESET {
                return
            } else if errno != EINTR {
                throw failure("send to")
            }
        }
    }

    /// Waits for bytes and appends them to `input`. Returns `false` if the daemon has hung up.
    /// recv(2).
    func receive(into input: inout InputBuffer) throws(ClientError) -> Bool {
        while true {
            let count = input.append(room: 64 << 10) { room in
                recv(descriptor, room.baseAddress, room.count, 0)
            }
            if count >= 0 {
                return count > 0
            } else if errno == ECONNRESET {
                return false
            } else if errno != EINTR {
                throw failure("receive from")
            }
        }
    }

    /// Waits until there is something to receive; -1 for no limit. Returns 0 if the time is over. poll(2).
    func waitForInput(milliseconds: Int32) -> Int32 {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds)
    }

    /// Whether there is something to receive before the time is over.
    func hasInput(within milliseconds: Int32) -> Bool {
        cclient_wait(descriptor, 0, milliseconds) != 0
    }

    /// Whether a daemon answers a call over a new connection to the path.
    static func isAnswered(at path: String, within milliseconds: Int32) -> Bool {
        let descriptor = path.withCString { cclient_connect($0) }
        guard descriptor >= 0 else { return false }
        let connection = SocketConnection(descriptor: descriptor, path: path)
        let call = Array(#"{"method":"org.varlink.service.GetInfo"}"#.utf8) + [0]
        guard cclient_send(descriptor, call, call.count) == call.count,
            cclient_wait(connection.descriptor, 0, milliseconds) != 0
        else { return false }
        var byte: UInt8 = 0
        return recv(connection.descriptor, &byte, 1, 0) == 1
    }

    func failure(_ action: String) -> ClientError {
        let number = errno
        return ClientError(
            .input, "cannot \(action) the daemon at \(path): \(String(cString: strerror(number)))",
            cause: number)
    }
}

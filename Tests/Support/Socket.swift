import CTestSupport
import Glibc

/// The descriptor of a stream socket, with the few calls that the fixtures need.
///
/// A plain value without ownership: the code that created it closes it, once.
struct Socket: Sendable {
    /// POLLRDHUP, which the C headers define only under _GNU_SOURCE: poll(2) reports a closed peer.
    private static let peerClosed: Int16 = 0x2000

    let descriptor: Int32

    /// Connects to a Unix socket. connect(2).
    static func connect(toUnix path: String) throws -> Socket {
        let socket = try make(AF_UNIX)
        do {
            try withUnixAddress(path) { address, length in
                guard Glibc.connect(socket.descriptor, address, length) == 0 else {
                    throw TestFailure.syscall("connect", path)
                }
            }
        } catch {
            socket.close()
            throw error
        }
        return socket
    }

    /// Connects to a port of 127.0.0.1. connect(2).
    static func connect(toLoopback port: Int) throws -> Socket {
        let socket = try make(AF_INET)
        let done = withLoopbackAddress(port: port) { address, length in
            Glibc.connect(socket.descriptor, address, length.pointee) == 0
        }
        guard done else {
            defer { socket.close() }
            throw TestFailure.syscall("connect", "127.0.0.1:\(port)")
        }
        return socket
    }

    /// Begins to connect to a port of 127.0.0.`host`, and does not wait for the end. connect(2), `EINPROGRESS`.
    static func beginConnecting(toLoopback port: Int, host: UInt8) throws -> Socket {
        let socket = try make(AF_INET)
        _ = fcntl(socket.descriptor, F_SETFL, O_NONBLOCK)
        _ = withLoopbackAddress(host: host, port: port) { address, length in
            Glibc.connect(socket.descriptor, address, length.pointee)
        }
        return socket
    }

    /// Makes a Unix socket and listens on it. bind(2), listen(2).
    static func listen(onUnix path: String) throws -> Socket {
        let socket = try make(AF_UNIX)
        do {
            try withUnixAddress(path) { address, length in
                guard bind(socket.descriptor, address, length) == 0,
                    Glibc.listen(socket.descriptor, 16) == 0
                else { throw TestFailure.syscall("bind", path) }
            }
        } catch {
            socket.close()
            throw error
        }
        return socket
    }

    /// Listens on 127.0.0.1, or on 127.0.0.`host`; on a free port if none is given. listen(2).
    static func listenOnLoopback(
        host: UInt8 = 1, port: Int = 0, backlog: Int32 = 4096
    ) throws -> (socket: Socket, port: Int) {
        let (socket, port) = try bindToLoopback(host: host, port: port)
        // Accepted sockets inherit this. A body sent after its head does not wait 40 ms for the head's
        // acknowledgement. tcp(7).
        var isEager: Int32 = 1
        setsockopt(
            socket.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isEager,
            socklen_t(MemoryLayout<Int32>.size))
        guard Glibc.listen(socket.descriptor, backlog) == 0 else {
            defer { socket.close() }
            throw TestFailure.syscall("listen", "127.0.0.1")
        }
        return (socket, port)
    }

    /// Listens on a free port on all addresses of this machine, IPv4 and IPv6. ipv6(7).
    static func listenEverywhere(backlog: Int32 = 4096) throws -> (socket: Socket, port: Int) {
        let socket = try make(AF_INET6)
        var only: Int32 = 0
        setsockopt(
            socket.descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &only,
            socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let done = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(socket.descriptor, generic, length) == 0
                    && getsockname(socket.descriptor, generic, &length) == 0
            }
        }
        guard done, Glibc.listen(socket.descriptor, backlog) == 0 else {
            defer { socket.close() }
            throw TestFailure.syscall("listen", "[::]")
        }
        return (socket, Int(UInt16(bigEndian: address.sin6_port)))
    }

    /// Reserves a free port of 127.0.0.1 for a program of the same user that binds it with SO_REUSEPORT.
    /// No other program gets the port while this socket is open, and this socket receives no
    /// connections. socket(7).
    static func reserveLoopbackPort() throws -> (socket: Socket, port: Int) {
        try bindToLoopback(shared: true)
    }

    private static func bindToLoopback(
        host: UInt8 = 1, port: Int = 0, shared: Bool = false
    ) throws -> (socket: Socket, port: Int) {
        let socket = try make(AF_INET)
        var sharing: Int32 = shared ? 1 : 0
        setsockopt(
            socket.descriptor, SOL_SOCKET, SO_REUSEPORT, &sharing,
            socklen_t(MemoryLayout<Int32>.size))
        let bound: Int? = withLoopbackAddress(host: host, port: port) { address, length in
            guard bind(socket.descriptor, address, length.pointee) == 0,
                getsockname(socket.descriptor, address, length) == 0
            else { return nil }
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                Int(UInt16(bigEndian: $0.pointee.sin_port))
            }
        }
        guard let bound else {
            defer { socket.close() }
            throw TestFailure.syscall("bind", "127.0.0.\(host)")
        }
        return (socket, bound)
    }

    private static func withLoopbackAddress<Result>(
        host: UInt8 = 1, port: Int,
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = (0x7F00_0000 | UInt32(host)).bigEndian
        address.sin_port = UInt16(port).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
        }
    }

    private static func make(_ family: Int32) throws -> Socket {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { throw TestFailure.syscall("socket") }
        return Socket(descriptor: descriptor)
    }

    private static func withUnixAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
    ) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else {
            throw TestFailure("the socket path \(path) has more than \(room - 1) bytes")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                try body(generic, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Accepts the next connection; `nil` once the socket was shut down. accept4(2).
    func accept() -> Socket? {
        while true {
            let accepted = ctest_accept(descriptor)
            if accepted >= 0 { return Socket(descriptor: accepted) }
            // A client that gave up while queued, or no free descriptor at the moment.
            guard errno == EINTR || errno == ECONNABORTED || errno == EMFILE else { return nil }
        }
    }

    /// Sends all bytes; returns false if the peer is gone. send(2).
    func send(_ bytes: some Collection<UInt8>) -> Bool {
        let all = Array(bytes)
        var sent = 0
        while sent < all.count {
            let count = all[sent...].withUnsafeBytes { rest in
                Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Sends as much as possible without blocking; returns the count, or -1 with errno. send(2).
    func sendAtOnce(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.withUnsafeBytes { rest in
            Glibc.send(
                descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
    }

    /// Receives at most `limit` bytes; empty at the end of the stream, `nil` on an error. recv(2).
    func receive(upTo limit: Int = 65536) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: limit)
        while true {
            let count = recv(descriptor, &buffer, limit, 0)
            if count >= 0 { return Array(buffer[..<count]) }
            guard errno == EINTR else { return nil }
        }
    }

    /// The event that poll(2) reported.
    enum Event {
        case readable, closedByPeer, otherReadable, timedOut
    }

    /// Waits until the peer closes, `other` becomes readable or `limit` has passed; with `orInput` also
    /// until this socket is readable. poll(2).
    func wait(orInput: Bool = false, other: Int32 = -1, within limit: Duration? = nil) -> Event {
        let input = orInput ? Int16(POLLIN) : 0
        var polled = [
            pollfd(fd: descriptor, events: Self.peerClosed | input, revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&polled, 2, limit?.milliseconds ?? -1) < 0, errno == EINTR {}
        if polled[1].revents != 0 { return .otherReadable }
        if polled[0].revents & Int16(POLLIN) != 0 { return .readable }
        return polled[0].revents == 0 ? .timedOut : .closedByPeer
    }

    /// Ends both directions, which wakes every thread blocked on the socket, or only the sending side.
    /// shutdown(2).
    func shutdown(sendingOnly: Bool = false) {
        Glibc.shutdown(descriptor, Int32(sendingOnly ? SHUT_WR : SHUT_RDWR))
    }

    /// Makes the next `close()` send a reset instead of an orderly end. SO_LINGER, socket(7).
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    func close() {
        Glibc.close(descriptor)
    }
}

import CLinux
import Glibc

/// The sockets of all connections to origins, including idle ones. Belongs to the transfer loop's thread.
///
/// libcurl reuses an idle connection without checking it for unread data, and keeps a silent HTTP/2 connection:
/// see the table in `Request+Quirks.swift`. The sockets are kept by local port because libcurl reports only
/// that for the connection it is about to use.
final class Connections {
    private struct Origin {
        var sockets: Set<Int32> = []
        var speaksHTTP2 = false
    }

    private var origins: [String: Origin] = [:]
    /// Sockets without a known port.
    private var unnamed: Set<Int32> = []
    /// Connections to different hosts can have the same local port.
    private var socketsByPort: [Int: Set<Int32>] = [:]
    /// When an HTTP/2 connection last brought part of a response, and the bytes of all responses on it, by local port.
    private var heard: [Int: (at: ContinuousClock.Instant, bytes: Int64)] = [:]
    private let receiveGuard: ReceiveGuard

    init(_ receiveGuard: ReceiveGuard) {
        self.receiveGuard = receiveGuard
    }

    /// A socket is about to be connected.
    func opened(_ socket: Int32, to origin: String) {
        receiveGuard.opened(socket)
        unnamed.insert(socket)
        origins[origin, default: Origin()].sockets.insert(socket)
    }

    /// A response from the origin came by HTTP/2.
    func speakHTTP2(to origin: String) { origins[origin]?.speaksHTTP2 = true }

    /// Whether an origin that speaks HTTP/2 has so many connections that it gets no more.
    func areEnough(for origin: String, limit: Int) -> Bool {
        origins[origin].map { $0.speaksHTTP2 && $0.sockets.count >= limit } ?? false
    }

    /// Closes a socket that libcurl no longer needs. close(2).
    func close(_ socket: Int32) -> Int32 {
        unnamed.remove(socket)
        if let origin = origins.first(where: { $0.value.sockets.contains(socket) })?.key {
            origins[origin]?.sockets.remove(socket)
            if origins[origin]?.sockets.isEmpty == true { origins[origin] = nil }
        }
        if let port = socketsByPort.first(where: { $0.value.contains(socket) })?.key {
            socketsByPort[port]?.remove(socket)
            if socketsByPort[port]?.isEmpty == true {
                socketsByPort[port] = nil
                heard[port] = nil
            }
        }
        return receiveGuard.close(socket)
    }

    /// Whether a connection was ended because its bytes kept libcurl busy.
    func wasEnded(localPort port: Int) -> Bool {
        nameNew()
        return socketsByPort[port, default: []].contains { receiveGuard.hasEnded($0) }
    }

    /// Whether a connection with this local port has unread data. poll(2).
    func hasUnread(localPort: Int) -> Bool {
        nameNew()
        return socketsByPort[localPort, default: []].contains { socket in
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, 0) > 0
        }
    }

    /// An HTTP/2 connection brought so many bytes of a response.
    func heard(onLocalPort port: Int, _ bytes: Int64) {
        let before = heard[port]
        // They are forgotten with the socket, so the socket has to be known.
        if before == nil { nameNew() }
        heard[port] = (.now, (before?.bytes ?? 0) + bytes)
    }

    /// The bytes of all responses that an HTTP/2 connection has brought; `nil` if it has brought none, or speaks another
    /// version.
    func contentOfStreams(onLocalPort port: Int) -> Int64? { heard[port]?.bytes }

    /// Bytes that a connection has brought since it was opened; `nil` if the kernel does not say, or if several
    /// connections have this local port. tcp(7), `TCP_INFO`.
    func received(onLocalPort port: Int) -> Int64? {
        nameNew()
        guard let sockets = socketsByPort[port], sockets.count == 1, let socket = sockets.first
        else {
            return nil
        }
        let count = clinux_received(socket)
        return count < 0 ? nil : count
    }

    /// Acknowledges at once what a connection has brought. tcp(7), `TCP_QUICKACK`.
    func acknowledge(onLocalPort port: Int) {
        nameNew()
        var isOn: Int32 = 1
        for socket in socketsByPort[port, default: []] {
            setsockopt(
                socket, Int32(IPPROTO_TCP), TCP_QUICKACK, &isOn,
                socklen_t(MemoryLayout<Int32>.size))
        }
    }

    /// Shuts a connection down if it brought nothing for `time`. shutdown(2).
    func shutDownIfSilent(localPort port: Int, for time: Duration) {
        nameNew()
        if let last = heard[port]?.at, .now - last < time { return }
        shutDown(localPort: port)
    }

    /// shutdown(2).
    func shutDown(localPort port: Int) {
        for socket in socketsByPort[port, default: []] { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    /// Finds the ports of sockets that are connected by now.
    private func nameNew() {
        for socket in unnamed {
            guard let port = Self.localPort(of: socket) else { continue }
            socketsByPort[port, default: []].insert(socket)
            unnamed.remove(socket)
        }
    }

    /// getsockname(2); `nil` before the socket is bound.
    private static func localPort(of socket: Int32) -> Int? {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(socket, $0, &length)
            }
        }
        // IPv4 and IPv6 addresses have the port at the same offset.
        guard result == 0, address.sin6_port != 0 else { return nil }
        return Int(UInt16(bigEndian: address.sin6_port))
    }
}

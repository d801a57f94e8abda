import Glibc

/// The sockets of all connections to origins, idle ones included. Belongs to the transfer loop's thread.
///
/// libcurl 7.88 takes what lies unread on an idle connection for the answer to the next request, and so one
/// image for another. HTTP/1.1 has nothing else to tell answers apart by than their order (RFC 9112 §9.3).
final class Connections {
    /// Those whose port is not known yet.
    private var unnamed: Set<Int32> = []
    /// Connections to several hosts may have one port here.
    private var socketsByPort: [Int: Set<Int32>] = [:]
    /// When something was last said on those by HTTP/2, which several downloads share.
    private var heardAt: [Int: ContinuousClock.Instant] = [:]

    /// A socket is about to be connected.
    func opened(_ socket: Int32) {
        unnamed.insert(socket)
    }

    /// Closes a socket that libcurl has no use for any more. close(2).
    func close(_ socket: Int32) -> Int32 {
        unnamed.remove(socket)
        if let port = socketsByPort.first(where: { $0.value.contains(socket) })?.key {
            socketsByPort[port]?.remove(socket)
            if socketsByPort[port]?.isEmpty == true {
                socketsByPort[port] = nil
                heardAt[port] = nil
            }
        }
        return Glibc.close(socket)
    }

    /// Whether something was said on a connection that nobody has asked for, or on another with the same
    /// port. poll(2).
    func hasUnread(localPort: Int) -> Bool {
        nameNew()
        return socketsByPort[localPort, default: []].contains { socket in
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, 0) > 0
        }
    }

    /// Part of an answer came by HTTP/2.
    func heard(onLocalPort port: Int) {
        // What is known of it ends with its socket.
        if heardAt.updateValue(.now, forKey: port) == nil { nameNew() }
    }

    /// Shuts a connection down on which nothing was said for so long: libcurl would have every other download
    /// from the host wait on it too, for as long as TCP believes in it. shutdown(2).
    func shutDownIfSilent(localPort port: Int, for time: Duration) {
        nameNew()
        if let last = heardAt[port], .now - last < time { return }
        for socket in socketsByPort[port, default: []] { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    /// Ports are known once sockets are connected.
    private func nameNew() {
        for socket in unnamed {
            guard let port = Self.localPort(of: socket) else { continue }
            socketsByPort[port, default: []].insert(socket)
            unnamed.remove(socket)
        }
    }

    /// getsockname(2); `nil` before it is bound.
    private static func localPort(of socket: Int32) -> Int? {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(socket, $0, &length)
            }
        }
        // It stands at the same place in addresses of IPv4.
        guard result == 0, address.sin6_port != 0 else { return nil }
        return Int(UInt16(bigEndian: address.sin6_port))
    }
}

import ArgumentParser
import Glibc

/// The address of a server.
enum Endpoint {
    /// A Unix stream socket.
    case unix(path: String)
    /// An IPv4 address in dotted form and a port.
    case tcp(address: String, port: UInt16)

    /// Opens a connected, non-blocking socket. socket(2), connect(2).
    func connect() throws -> Int32 {
        switch self {
        case .unix(let path): try connectUnix(path)
        case .tcp(let address, let port): try connectTCP(address, port)
        }
    }

    private func connectUnix(_ path: String) throws -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard path.utf8.count < room.count else { throw BenchFailure("\(path) is too long") }
            room.copyBytes(from: path.utf8)
        }
        return try open(family: AF_UNIX, address: address)
    }

    private func connectTCP(_ host: String, _ port: UInt16) throws -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
            throw BenchFailure("\(host) is not an IPv4 address")
        }
        let descriptor = try open(family: AF_INET, address: address)
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
        return descriptor
    }

    /// Connects before the socket becomes non-blocking, so that it waits for a full backlog.
    private func open<Address>(family: Int32, address: Address) throws -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { throw BenchFailure("socket", errno: errno) }
        let result = withUnsafeBytes(of: address) { bytes in
            Glibc.connect(
                descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self),
                socklen_t(bytes.count))
        }
        guard result == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
            let cause = errno
            close(descriptor)
            throw BenchFailure("cannot connect to \(self)", errno: cause)
        }
        return descriptor
    }
}

extension Endpoint: CustomStringConvertible {
    /// The form that ``init(argument:)`` accepts.
    var description: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .tcp(let address, let port): "tcp:\(address):\(port)"
        }
    }
}

extension Endpoint: ExpressibleByArgument {
    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        if parts[0] == "unix" {
            self = .unix(path: parts[1])
        } else {
            let address = parts[1].split(separator: ":").map(String.init)
            guard parts[0] == "tcp", address.count == 2, let port = UInt16(address[1]) else {
                return nil
            }
            self = .tcp(address: address[0], port: port)
        }
    }
}

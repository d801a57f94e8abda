import Glibc
import TestSupport

/// A name server that takes all questions and answers none.
struct SilentNameServer {
    /// The words that start a program for which this is the only name server. unshare(1), resolv.conf(5)
    let launcher: [String]

    /// Only root may use the port of name servers.
    init(in scope: TestScope) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TestFailure("socket: \(errno)") }
        scope.atEnd { close(descriptor) }
        let address = try Self.bind(descriptor)
        let file = try TemporaryDirectory(in: scope).write(
            "nameserver \(address)\n", to: "resolv.conf")
        let mount = #"mount --bind "$0" /etc/resolv.conf && exec "$@""#
        launcher = ["unshare", "--mount", "sh", "-c", mount, file]
    }

    /// The port is always the same, so the address is a new one of this machine.
    private static func bind(_ descriptor: Int32) throws -> String {
        for _ in 0..<20 {
            let host = [UInt8](unsafeUninitializedCapacity: 3) { bytes, count in
                for place in 0..<3 { bytes[place] = .random(in: 1...250) }
                count = 3
            }
            let address = "127." + host.map { "\($0)" }.joined(separator: ".")
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = in_port_t(53).bigEndian
            inet_pton(AF_INET, address, &name.sin_addr)
            let result = withUnsafeBytes(of: &name) {
                Glibc.bind(
                    descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                    socklen_t($0.count))
            }
            if result == 0 { return address }
        }
        throw TestFailure("no address of this machine has a free port 53")
    }
}

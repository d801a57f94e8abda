import Glibc

/// An IPv4 or IPv6 address.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes, most significant first.
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        precondition(bytes.count == 4 || bytes.count == 16, "an address has 4 or 16 bytes")
        self.bytes = bytes
    }

    /// Parses the usual notations. inet_pton(3).
    public init?(_ text: some StringProtocol) {
        var four = [UInt8](repeating: 0, count: 4)
        var sixteen = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, String(text), &four) == 1 {
            bytes = four
        } else if inet_pton(AF_INET6, String(text), &sixteen) == 1 {
            bytes = sixteen
        } else {
            return nil
        }
    }

    /// The address that some programs take a host name for: one in any notation of inet_aton(3), with trailing dots,
    /// or one of this machine's own names. RFC 6761 §6.3, URL Standard §3.5.
    init?(hiddenIn name: String) {
        let name = name.lowercased()
        let end = name.lastIndex { $0 != "." }.map { name.index(after: $0) } ?? name.startIndex
        let host = name[..<end]
        guard host != "localhost", !host.hasSuffix(".localhost") else {
            self.init(bytes: [127, 0, 0, 1])
            return
        }
        var address = in_addr()
        guard !host.contains(where: \.isWhitespace), inet_aton(String(host), &address) != 0 else {
            return nil
        }
        self.init(bytes: withUnsafeBytes(of: address.s_addr) { Array($0) })
    }

    /// The address in a socket address; `nil` for families other than IP. sockaddr(3type).
    init?(_ address: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        // The family comes first in every kind of socket address.
        switch Int32(raw.load(as: sa_family_t.self)) {
        case AF_INET:
            let start = MemoryLayout<sockaddr_in>.offset(of: \.sin_addr)!
            bytes = [UInt8](UnsafeRawBufferPointer(start: raw + start, count: 4))
        case AF_INET6:
            let start = MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr)!
            bytes = [UInt8](UnsafeRawBufferPointer(start: raw + start, count: 16))
        default:
            return nil
        }
    }

    /// The port in a socket address of IP. It is in the same place for both families.
    static func port(_ address: UnsafePointer<sockaddr>) -> UInt16 {
        let start = MemoryLayout<sockaddr_in>.offset(of: \.sin_port)!
        return UInt16(bigEndian: (UnsafeRawPointer(address) + start).load(as: UInt16.self))
    }

    /// The IPv4 address inside an IPv4-mapped (RFC 4291 §2.5.5.2) or NAT64 (RFC 6052 §2.1) address;
    /// any other address itself.
    var unwrapped: IPAddress {
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        let nat64: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
        guard bytes.count == 16, bytes.starts(with: mapped) || bytes.starts(with: nat64) else {
            return self
        }
        return IPAddress(bytes: Array(bytes[12...]))
    }

    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

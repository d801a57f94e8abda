/// A block of addresses in CIDR notation, as `192.168.0.0/16`; a single address is a block of one.
public struct AddressRange: Hashable, Sendable, LosslessStringConvertible {
    private let base: IPAddress
    /// Leading bits that all addresses of the block share.
    private let length: Int

    /// `nil` unless the text is an address and a length that fits it (RFC 4632 §3.1). A block of IPv4 addresses
    /// inside IPv6 ones becomes the block of the IPv4 addresses; see ``AddressPolicy/permits(_:)``.
    public init?(_ description: String) {
        let parts = description.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let first = parts.first, let base = IPAddress(first) else {
            return nil
        }
        let full = base.bytes.count * 8
        let digits = parts.count == 2 ? parts[1] : "\(full)"
        guard digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let length = Int(digits),
            (0...full).contains(length)
        else { return nil }
        let inner = base.unwrapped
        let outerLength = full - inner.bytes.count * 8
        self.base = length >= outerLength ? inner : base
        self.length = length >= outerLength ? length - outerLength : length
    }

    public var description: String { "\(base)/\(length)" }

    func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == base.bytes.count else { return false }
        return (0..<base.bytes.count).allSatisfy { index in
            let bits = min(max(length - index * 8, 0), 8)
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            return address.bytes[index] & mask == base.bytes[index] & mask
        }
    }
}

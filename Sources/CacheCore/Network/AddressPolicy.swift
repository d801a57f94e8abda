/// The addresses that connections may lead to: the public Internet without this machine's own addresses, and ranges
/// that the user allowed.
///
/// For a direct connection libcurl asks with the resolved address just before connect(2), after each redirect
/// too, so the spelling of a name does not matter. Behind a proxy only names that resolve here are checked; see
/// ``RequestRoute``.
public struct AddressPolicy: Sendable {
    private let allowed: [AddressRange]
    /// Whether an address is one of this machine's, now.
    private let isOwn: @Sendable (IPAddress) -> Bool

    public init(allowing allowed: [AddressRange] = []) {
        self.init(allowing: allowed) { NetworkInterfaces.have($0) }
    }

    init(allowing allowed: [AddressRange], isOwn: @escaping @Sendable (IPAddress) -> Bool) {
        (self.allowed, self.isOwn) = (allowed, isOwn)
    }

    /// Every address, for connections whose target is configured.
    static let everything = AddressPolicy(
        allowing: ["0.0.0.0/0", "::/0"].compactMap { AddressRange($0) })

    /// Whether a connection to the address may be opened. An IPv4 address inside an IPv6 one (mapped, or NAT64 as in
    /// RFC 6052) counts as the IPv4 address. A service on a global address of this machine can rely on the caller being
    /// local, as one on the loopback can. The machine's addresses can change at any time, so they are asked for anew.
    public func permits(_ address: IPAddress) -> Bool {
        let address = address.unwrapped
        if allowed.contains(where: { $0.contains(address) }) { return true }
        return !Self.notPublic.contains { $0.contains(address) } && !isOwn(address)
    }

    /// Addresses outside the public Internet: the blocks of the special-purpose registries (RFC 6890 and its
    /// updates) that are not globally reachable, multicast, and all IPv6 addresses that are not global unicast,
    /// 2000::/3 (RFC 4291 §2.4).
    private static let notPublic: [AddressRange] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
        "::/3", "4000::/2", "8000::/1", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    ].map {
        guard let range = AddressRange($0) else { preconditionFailure("\($0) is no range") }
        return range
    }
}

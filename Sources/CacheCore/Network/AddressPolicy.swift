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

    /// The policy without what the user allowed.
    var publicOnly: AddressPolicy { AddressPolicy(allowing: [], isOwn: isOwn) }

    /// Whether a connection to the address may be opened. An IPv4 address inside an IPv6 one (mapped, or NAT64 as in
    /// RFC 6052) counts as the IPv4 address. A service on a global address of this machine can rely on the caller being
    /// local, as one on the loopback can. The machine's addresses can change at any time, so they are asked for anew.
    ///
    /// - Parameter port: the port that the connection leads to.
    public func permits(_ address: IPAddress, port: UInt16 = 443) -> Bool {
        let address = address.unwrapped
        if allowed.contains(where: { $0.contains(address) }) { return true }
        return !Self.isBad(port) && Self.isPublic(address) && !isOwn(address)
    }

    /// Whether an address means the same host on every network.
    static func isPublic(_ address: IPAddress) -> Bool {
        let address = address.unwrapped
        return !notPublic.contains { $0.contains(address) }
    }

    /// Whether a host's name alone shows that it is another host on another network: an address that is not public, in
    /// any notation, a name of one label, or one below `localhost` (RFC 6761), `local` (RFC 6762), `home.arpa`
    /// (RFC 8375), or `internal`, which ICANN keeps for private use.
    static func isLocal(host: some StringProtocol) -> Bool {
        let host = host.lowercased()
        if host.hasPrefix("[") {
            return IPAddress(host.dropFirst().dropLast()).map { !isPublic($0) } ?? true
        }
        if let address = IPAddress(hiddenIn: host) { return !isPublic(address) }
        let labels = host.split(separator: ".")
        return labels.count < 2 || ["local", "internal"].contains(labels.last)
            || labels.suffix(2) == ["home", "arpa"]
    }

    /// Whether another protocol has the port, whose server could take a request for a message of its own. Fetch Standard,
    /// "Port blocking".
    static func isBad(_ port: UInt16) -> Bool { badPorts.contains(port) }

    private static let badPorts: Set<UInt16> = [
        0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
        102, 103, 104, 109,
        110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513,
        514, 515, 526, 530,
        531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
        2049, 3659, 4045, 4190,
        5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
    ]

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

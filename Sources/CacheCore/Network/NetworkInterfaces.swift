import Glibc

/// The state of the machine's network interfaces.
enum NetworkInterfaces {
    /// Whether the machine has no network: no interface except the loopback is up and running with an address that
    /// is valid beyond its own link. `false` if the interfaces cannot be listed. getifaddrs(3), netdevice(7).
    static var isOffline: Bool {
        !contains(ifUnknown: true) { leadsOut($0.ifa_flags, $1) }
    }

    /// Whether an interface has this address. `false` if the interfaces cannot be listed. getifaddrs(3).
    static func have(_ address: IPAddress) -> Bool {
        contains(ifUnknown: false) { $1.unwrapped == address }
    }

    private static func contains(
        ifUnknown: Bool, where condition: (ifaddrs, IPAddress) -> Bool
    ) -> Bool {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return ifUnknown }
        defer { freeifaddrs(first) }
        return sequence(first: first) { $0?.pointee.ifa_next }.prefix { $0 != nil }
            .compactMap { $0?.pointee }
            .contains { interface in
                guard let address = interface.ifa_addr.flatMap({ IPAddress($0) }) else {
                    return false
                }
                return condition(interface, address)
            }
    }

    static func leadsOut(_ flags: UInt32, _ address: IPAddress) -> Bool {
        let needed = UInt32(IFF_UP | IFF_RUNNING)
        return flags & needed == needed && flags & UInt32(IFF_LOOPBACK) == 0
            && !linkLocal.contains { $0.contains(address) }
    }

    /// RFC 3927, RFC 4291 §2.5.6.
    private static let linkLocal = ["169.254.0.0/16", "fe80::/10"].compactMap { AddressRange($0) }
}

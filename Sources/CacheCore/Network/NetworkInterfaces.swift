import Glibc

/// The state of the machine's network interfaces.
enum NetworkInterfaces {
    /// Whether the machine has no network: no interface except the loopback is up and running with an address that
    /// is valid beyond its own link. `false` if the interfaces cannot be listed. getifaddrs(3), netdevice(7).
    static var isOffline: Bool {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return false }
        defer { freeifaddrs(first) }
        var next = first
        while let interface = next?.pointee {
            if let address = interface.ifa_addr.flatMap({ IPAddress($0) }),
                leadsOut(interface.ifa_flags, address)
            {
                return false
            }
            next = interface.ifa_next
        }
        return true
    }

    static func leadsOut(_ flags: UInt32, _ address: IPAddress) -> Bool {
        let needed = UInt32(IFF_UP | IFF_RUNNING)
        return flags & needed == needed && flags & UInt32(IFF_LOOPBACK) == 0
            && !linkLocal.contains { $0.contains(address) }
    }

    /// RFC 3927, RFC 4291 §2.5.6.
    private static let linkLocal = ["169.254.0.0/16", "fe80::/10"].compactMap { AddressRange($0) }
}

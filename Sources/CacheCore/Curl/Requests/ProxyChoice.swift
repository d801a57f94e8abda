/// The proxy for requests, and the hosts that are reached without it.
public struct ProxyChoice: Sendable, Hashable {
    /// As `http://host:port`, `https://…`, `socks5://…` or `socks5h://…`. The last one looks names up itself.
    public var url: String
    /// A user and a password for the proxy. No text shows them.
    public var login: ProxyLogin?
    /// Names of hosts, which stand for their subdomains too, and networks.
    public var exceptions: [String] = []

    public init(_ url: String) {
        self.url = url
    }

    /// Whether the proxy gets names that were not looked up here.
    public var looksUpNames: Bool { url.hasPrefix("socks5h:") }

    /// How a request reaches a host.
    func route(to host: String) -> RequestRoute {
        if isException(host) { return .direct }
        // An address is checked here, in whatever form it is written.
        return looksUpNames && IPAddress(hiddenIn: host) == nil && !host.hasPrefix("[")
            ? .proxy(self) : .lookup
    }

    private func isException(_ host: String) -> Bool {
        let name = host.lowercased()
        let address = IPAddress(name.trimmingBrackets)
        return exceptions.contains { exception in
            if let address { return AddressRange(exception)?.contains(address.unwrapped) == true }
            let suffix = exception.lowercased().drop { $0 == "." }
            return name == suffix || name.hasSuffix(".\(suffix)")
        }
    }
}

extension String {
    /// The address in the brackets of a URL (RFC 3986 §3.2.2).
    fileprivate var trimmingBrackets: Substring {
        hasPrefix("[") && hasSuffix("]") ? dropFirst().dropLast() : self[...]
    }
}

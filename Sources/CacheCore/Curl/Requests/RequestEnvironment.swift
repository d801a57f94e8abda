/// The things that all requests share. Belongs to the transfer loop's thread.
final class RequestEnvironment {
    let settings: TransferSettings
    let connections: Connections
    let resolutions: Resolutions
    let servers: KnownServers
    /// The scheme and authority of the last URL, and its origin.
    private var last: (server: Substring, origin: String)?

    init(
        _ settings: TransferSettings, _ connections: Connections,
        _ servers: KnownServers = KnownServers()
    ) {
        (self.settings, self.connections, self.servers) = (settings, connections, servers)
        resolutions = Resolutions(settings)
    }

    /// The origin of a URL, or the URL if it has none. Most requests in a row go to one server, so that libcurl parses
    /// few URLs for it.
    func origin(of url: String) -> String {
        let server = url.server
        if let last, last.server == server { return last.origin }
        let origin = CurlURL(String(server))?.origin ?? url
        last = (server, origin)
        return origin
    }
}

extension String {
    /// The scheme and the authority of a URL, like `https://example.org:8080` (RFC 3986 §3).
    fileprivate var server: Substring {
        var slashes = 0
        let end = utf8.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
        return self[..<(end ?? endIndex)]
    }
}

package import CacheKey

/// The server that a URL names: host and port, however they are spelled.
///
/// Two hashes of 64 bits stand for the name, because origins are compared at every step of every download. Each run of
/// the daemon has other hashes, so that nobody can choose two servers that have the same.
package struct Origin: Hashable, Sendable {
    private let first: Int
    private let second: Int

    package init(_ url: CacheURL) {
        let name = Self.normalized(url.origin)
        first = name.hashValue
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(first)
        second = hasher.finalize()
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(first)
    }

    /// Without capital letters (RFC 3986 §3.2.2), dots at the end of the host (RFC 1034 §3.1), and the port that the
    /// scheme implies. Most origins are spelled like that, and stay parts of their URLs.
    private static func normalized(_ origin: Substring) -> Substring {
        var origin = origin
        if origin.utf8.contains(where: { (0x41...0x5A).contains($0) }) {
            origin = Substring(origin.lowercased())
        }
        let bytes = origin.utf8
        let digits = bytes.reversed().prefix { (0x30...0x39).contains($0) }.count
        let afterHost = bytes.index(bytes.endIndex, offsetBy: -digits)
        guard let colon = bytes[..<afterHost].indices.last, bytes[colon] == UInt8(ascii: ":") else {
            return withoutDots(origin)
        }
        let port = origin[afterHost...]
        let host = withoutDots(origin[..<colon])
        let implied = origin.hasPrefix("https:") ? "443" : "80"
        if port.isEmpty || port == implied { return host }
        return host.endIndex == colon ? origin : host + ":" + port
    }

    private static func withoutDots(_ host: Substring) -> Substring {
        guard let end = host.utf8.lastIndex(where: { $0 != UInt8(ascii: ".") }) else { return host }
        return host[...end]
    }
}

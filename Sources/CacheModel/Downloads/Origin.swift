package import CacheKey

/// The server that a URL names: scheme, host and port as written. The hash is stored, because
/// origins are looked up at every step of every download.
package struct Origin: Hashable, Sendable {
    private let name: Substring
    private let hash: Int

    package init(_ url: CacheURL) {
        name = url.origin
        hash = name.hashValue
    }

    package static func == (left: Origin, right: Origin) -> Bool {
        left.hash == right.hash && left.name == right.name
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}

internal import CacheKey

/// The server a URL is downloaded from: scheme, host and port as given. With its hash, because it is looked
/// up at every step of every download.
struct Origin: Hashable, Sendable {
    private let name: Substring
    private let hash: Int

    init(_ url: CacheURL) {
        name = url.origin
        hash = name.hashValue
    }

    static func == (left: Origin, right: Origin) -> Bool {
        left.hash == right.hash && left.name == right.name
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}

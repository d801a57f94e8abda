public import CacheKey

/// A request for one image: its URL, and the key of that URL.
public struct ImageRequest: Sendable {
    public let key: CacheKey
    public let url: CacheURL

    public init(_ url: CacheURL) {
        self.url = url
        key = CacheKey(url)
    }
}

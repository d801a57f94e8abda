public import CacheKey

/// A request for one image: the URL to download it from, and the key of the URL that names it.
public struct ImageRequest: Sendable {
    public let key: CacheKey
    public let url: CacheURL
    /// The URL by which the image is known.
    public let name: CacheURL

    /// - Parameter name: the URL that names the image, if it is another one.
    public init(_ url: CacheURL, named name: CacheURL? = nil) {
        (self.url, self.name) = (url, name ?? url)
        key = CacheKey(name ?? url)
    }
}

public import CacheKey

/// A request for one image: the URL to download it from, and the key of the URL that names it.
public struct ImageRequest: Sendable {
    public let key: CacheKey
    public let url: CacheURL
    /// The URL that names the image; `nil` if that is the URL to download from.
    public let identity: CacheURL?

    /// - Parameter identity: the URL that names the image, if it is another one.
    public init(_ url: CacheURL, named identity: CacheURL? = nil) {
        self.url = url
        self.identity = identity == url ? nil : identity
        key = CacheKey(identity ?? url)
    }

    /// The URL by which the image is known.
    public var name: CacheURL { identity ?? url }
}

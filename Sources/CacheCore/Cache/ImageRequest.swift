public import CacheKey
public import CacheValues

/// A request for one image: the URL to download it from, and the key of the URL that names it.
public struct ImageRequest: Sendable {
    public let key: CacheKey
    public let url: CacheURL
    /// The URL by which the image is known.
    public let name: CacheURL
    /// The header fields of an account, for the origin of the URL.
    public let fields: [RequestField]
    /// Other URLs of the image, each to be asked when the one before it has failed for good.
    public let also: [CacheURL]

    /// - Parameters:
    ///   - name: the URL that names the image, if it is another one.
    ///   - fields: the header fields of an account. The name has to say which.
    public init(
        _ url: CacheURL, named name: CacheURL? = nil, fields: [RequestField] = [],
        also: [CacheURL] = []
    ) {
        (self.url, self.name, self.fields, self.also) = (url, name ?? url, fields, also)
        key = CacheKey(name ?? url)
    }
}

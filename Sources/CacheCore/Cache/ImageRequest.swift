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

    /// - Parameters:
    ///   - name: the URL that names the image, if it is another one.
    ///   - fields: the header fields of an account. The name has to say which.
    public init(_ url: CacheURL, named name: CacheURL? = nil, fields: [RequestField] = []) {
        (self.url, self.name, self.fields) = (url, name ?? url, fields)
        key = CacheKey(name ?? url)
    }
}

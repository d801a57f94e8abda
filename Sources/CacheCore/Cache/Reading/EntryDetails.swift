public import CacheValues
package import HTTPCaching

/// Details of an entry that only the attributes of its file hold.
public struct EntryDetails: Sendable {
    /// The URL that names the image.
    public let url: String?
    /// The URL that the image is downloaded from, if it is another one.
    public let source: String?
    public let sha256: ContentDigest?
    /// The fields that decide about the entry at its origin; `nil` if that was not asked for.
    public let origin: OriginDetails?

    /// The number of entries whose file is that of this one, its own included.
    public let names: Int

    package init(
        url: String?, sha256: ContentDigest?, source: String? = nil, names: Int = 1,
        origin: OriginDetails? = nil
    ) {
        (self.url, self.sha256, self.origin) = (url, sha256, origin)
        (self.source, self.names) = (source, names)
    }
}

/// The fields on which a request to the origin depends.
public struct OriginDetails: Sendable {
    /// The entity tag as the origin sent it, including quotes and `W/`.
    public let entityTag: String?
    /// The `Last-Modified` time.
    public let lastModified: UnixTime?
    /// Whether a stale image must not be used before the origin has confirmed it.
    public let isStrict: Bool
    /// Whether the user's own rule is the reason that the entry is still fresh.
    public let isRuled: Bool
    /// The last two groups of the key of the URL that redirects led to.
    public let redirect: String?
    /// Whether the bytes came from the store that several machines share.
    public let isFromStore: Bool

    package init(_ record: EntryRecord) {
        entityTag = record.validators.entityTag
        lastModified = record.validators.lastModified
        isStrict = record.terms.mustRevalidate
        isRuled = record.terms.isRuled
        redirect = record.validators.source?.keyEnd
        isFromStore = record.isFromStore
    }
}

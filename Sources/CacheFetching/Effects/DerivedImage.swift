package import CacheKey
package import CacheValues

/// An image to be derived from another one, and those who want it.
package struct DerivedImage: Sendable {
    /// The URL to download the original from, perhaps with the fragment of the derived image.
    package let url: CacheURL
    /// The URL that names the derived image.
    package let name: CacheURL
    /// The header fields of an account, for the original.
    package let fields: [RequestField]
    /// The priority of the most urgent caller.
    package let priority: Priority
    /// The client on whose behalf the original is downloaded.
    package let client: ClientID
    /// Whether a caller requires the origin's confirmation.
    package let isRefresh: Bool
}

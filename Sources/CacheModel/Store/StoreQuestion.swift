package import CacheKey

/// One question to the store.
package struct StoreQuestion: Hashable, Sendable {
    /// The URL that names the image. An object of another URL is not the answer.
    package let name: CacheURL
    /// Whether there is an entry already, so that the store is first asked about the object without its bytes.
    package let isAboutEntry: Bool
    /// The time until the head of the answer has to be there. It includes connecting.
    package let limit: Duration

    package init(name: CacheURL, isAboutEntry: Bool, limit: Duration) {
        (self.name, self.isAboutEntry, self.limit) = (name, isAboutEntry, limit)
    }
}

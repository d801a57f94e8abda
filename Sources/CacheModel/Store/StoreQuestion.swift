package import CacheKey

/// One question to the store.
package struct StoreQuestion: Hashable, Sendable {
    /// The URL that names the image. An object of another URL is not the answer.
    package let name: CacheURL
    /// The rules that shortened the name. An object whose name was shortened by others is not the answer.
    package let naming: IgnoredQueries
    /// Whether there is an entry already, so that the store is first asked about the object without its bytes.
    package let isAboutEntry: Bool
    /// Whether the image is claimed if it is missing.
    package let claims: Bool
    /// Seconds. The store knows nothing new about an entry whose origin confirms it for less, because that is not written.
    package let leastLifetime: Int64
    package let patience: StorePatience

    package init(
        name: CacheURL, naming: IgnoredQueries = IgnoredQueries(), isAboutEntry: Bool,
        claims: Bool = false, leastLifetime: Int64 = 0, patience: StorePatience
    ) {
        (self.name, self.naming, self.isAboutEntry) = (name, naming, isAboutEntry)
        (self.claims, self.leastLifetime, self.patience) = (claims, leastLifetime, patience)
    }
}

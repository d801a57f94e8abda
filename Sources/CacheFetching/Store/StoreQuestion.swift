package import CacheKey

/// One question to the store.
package struct StoreQuestion: Hashable, Sendable {
    /// The URL that names the image. An object of another URL is not the answer.
    package let name: CacheURL
    /// The rules that shortened the name. An object whose name was shortened by others is not the answer.
    package let naming: IgnoredQueries
    /// Whether there is an entry already, so that the store is first asked about the object without its bytes.
    package let isAboutEntry: Bool
    /// Whether the image is missing and only claimed, unless another machine has done so.
    package let claims: Bool
    /// Seconds. The store knows nothing new about an entry whose origin confirms it for less, because that is not written.
    package let leastLifetime: Int64
    package let patience: StorePatience
    /// The time for which a late answer still counts.
    package let lateTime: Duration

    package init(
        name: CacheURL, naming: IgnoredQueries = IgnoredQueries(), isAboutEntry: Bool,
        claims: Bool = false, leastLifetime: Int64 = 0, patience: StorePatience,
        lateTime: Duration = .zero
    ) {
        (self.name, self.naming, self.isAboutEntry) = (name, naming, isAboutEntry)
        (self.claims, self.leastLifetime) = (claims, leastLifetime)
        (self.patience, self.lateTime) = (patience, lateTime)
    }
}

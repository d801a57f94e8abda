/// The options of all requests of a stream of images.
package struct StreamOptions: Sendable, Hashable {
    /// Whether to ask the origin even if the entry is fresh.
    package var refresh = false
    /// The digest that the bytes must have, as 64 hexadecimal digits; empty for any.
    package var sha256: [UInt8] = []

    package init(refresh: Bool = false, sha256: [UInt8] = []) {
        self.refresh = refresh
        self.sha256 = sha256
    }
}

/// The options of all requests of a stream of images.
package struct StreamOptions: Sendable, Hashable {
    /// Whether to ask the origin even if the entry is fresh.
    package var refresh = false
    /// The digest that the bytes must have, as 64 hexadecimal digits; empty for any.
    package var sha256: [UInt8] = []
    /// How all images of ``Session/want(_:)`` are wanted.
    package var terms = WantTerms()

    package init(refresh: Bool = false, sha256: [UInt8] = [], terms: WantTerms = WantTerms()) {
        self.refresh = refresh
        self.sha256 = sha256
        self.terms = terms
    }
}

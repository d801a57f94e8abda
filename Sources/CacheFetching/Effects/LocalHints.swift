package import CacheValues

/// What is known about an image when its download begins. A hint about a file that is `false` only saves looking for
/// that file.
package struct LocalHints: Hashable, Sendable {
    /// Whether there may be a partial to continue.
    package var partial = true
    /// Whether there may be an entry to ask the origin about.
    package var entry = true
    /// Whether the image is derived from another one, so that only the origin's confirmation is of use.
    package var isDerived = false
    /// The header fields of an account, for the request.
    package var fields: [RequestField] = []
    /// Whether only programs in sandboxes want the image, so that it comes from public addresses alone.
    package var isForGuests = false

    package init(partial: Bool = true, entry: Bool = true) {
        (self.partial, self.entry) = (partial, entry)
    }
}

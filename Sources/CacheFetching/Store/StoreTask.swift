package import CacheKey

/// Something to write to the store. It names an image and has none of its bytes: 24 bytes in a queue.
package struct StoreTask: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// Put the entry there, unless somebody else has.
        case create
        /// Put the entry there, in place of another object.
        case replace
        /// Write the new freshness into the object.
        case renew
        /// Delete the object.
        case delete
        /// Leave the mark of a machine that writes here. The key means nothing.
        case mark
    }

    package let key: CacheKey
    package var kind: Kind
    /// Attempts that failed.
    package var failures: UInt8 = 0

    package init(_ kind: Kind, _ key: CacheKey) {
        (self.kind, self.key) = (kind, key)
    }

    static let mark = StoreTask(.mark, CacheKey(high: 0, low: 0))
}

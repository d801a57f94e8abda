/// The store's refusal to serve this machine: its own code, and the remedy.
package struct StoreRefusal: Hashable, Sendable {
    /// The store's code, like `AccessDenied`, or the status if there is none.
    package let code: String
    package let remedy: String

    package init(code: String, remedy: String) {
        (self.code, self.remedy) = (code, remedy)
    }

    /// Whether this is the answer of a store that does not say whether an object is missing, because the key may not
    /// list the bucket.
    package var canMeanMissing: Bool { code == "AccessDenied" }
}

package import CacheValues

/// The description that an object of a store carries in its header fields. Nothing of it is trusted until it agrees
/// with the bytes.
package struct StoreMetadata: Hashable, Sendable {
    /// The text of a ``StoreRecord``.
    package var record: String?
    /// SHA-256 of the bytes, in 64 hex digits.
    package var digest: String?
    /// SHA-256 of the URL, in 64 hex digits. It binds the object to its URL without revealing it to those who list
    /// the bucket.
    package var urlDigest: String?

    package init(record: String? = nil, digest: String? = nil, urlDigest: String? = nil) {
        (self.record, self.digest, self.urlDigest) = (record, digest, urlDigest)
    }

    /// The header fields of an upload. No name begins with another one, which libcurl 7.88 would sign wrongly.
    package var fields: [RequestField] {
        let all = [
            (HeaderField.storeRecord, record), (.storeDigest, digest), (.storeURLDigest, urlDigest),
        ]
        return all.compactMap { field, value in
            value.map { RequestField(name: field.rawValue, value: $0) }
        }
    }
}

extension StoreMetadata? {
    /// The same with a change.
    func with(_ change: (inout StoreMetadata) -> Void) -> StoreMetadata {
        var metadata = self ?? StoreMetadata()
        change(&metadata)
        return metadata
    }
}

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
    /// The parameters of the query that the writer's rules left out of the URL, with commas between them. They are missing
    /// in the URL of the digest.
    package var leftOut: String?
    /// Seconds for which the object, which has no bytes, says that a machine downloads the image.
    package var claim: String?
    /// The writer's name, and its signature of the other fields.
    package var signature: String?

    package init(
        record: String? = nil, digest: String? = nil, urlDigest: String? = nil,
        leftOut: String? = nil, claim: String? = nil, signature: String? = nil
    ) {
        (self.record, self.digest, self.urlDigest) = (record, digest, urlDigest)
        (self.leftOut, self.claim, self.signature) = (leftOut, claim, signature)
    }

    /// The header fields of an upload. No name begins with another one, which libcurl 7.88 would sign wrongly.
    package var fields: [RequestField] {
        let all = [
            (HeaderField.storeRecord, record), (.storeDigest, digest), (.storeURLDigest, urlDigest),
            (.storeLeftOut, leftOut), (.storeClaim, claim), (.storeSignature, signature),
        ]
        return all.compactMap { field, value in
            value.map { RequestField(name: field.rawValue, value: $0) }
        }
    }
}

extension StoreMetadata {
    /// The text that is signed: what the object is, and for which URL.
    private var promise: String {
        (["cached 1"] + [urlDigest, digest, leftOut, record].map { $0 ?? "" })
            .joined(separator: "\n")
    }

    package mutating func sign(with key: SigningKey) { signature = key.signature(of: promise) }

    package func isSigned(byOneOf keys: [VerifyingKey]) -> Bool {
        guard let signature else { return false }
        return keys.contains { $0.verifies(signature, of: promise) }
    }
}

extension ResponseHead {
    /// Seconds for which the claim of a machine still holds, by the store's clock; 0 or less if it is over. `nil` if this is
    /// no claim.
    package func claimLeft(atMost lifetime: Int64, now: UnixTime) -> Int64? {
        guard let claim = storeMetadata?.claim else { return nil }
        let dates = dates(now: now)
        guard let date = dates.date, let modified = dates.lastModified else { return 0 }
        return min(Int64(claim) ?? 0, lifetime) - max(date - modified, 0)
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

package import CacheValues

/// The cache's notes on an interrupted download, in one extended attribute of `NAME.part`.
///
///     v1 total=1028192 boot=3f1c0a9be4d24877 fresh=1790003600 lifetime=3600 etag="6b012ffe-fb060"
///
/// Only a download that can be continued has a record: its length is known, and its origin sent a strong
/// validator.
package struct PartialRecord: Hashable, Sendable {
    /// Bytes of the whole image.
    package let total: Int64
    package let validator: StrongValidator
    /// The URL that sent the validator, if redirects led to it.
    package var source: ResponseSource?
    /// The ID of the machine's boot during which the record was written.
    package var boot: String?
    /// The freshness that the first response stated. A later part need not repeat it (RFC 9111 §3.4).
    package var freshness = Freshness.unknown

    /// The name of the attribute.
    package static let attributeName = "user.cached.partial"
    static let version = "v1"

    init(total: Int64, validator: StrongValidator) {
        self.total = total
        self.validator = validator
    }

    /// The record of a download whose response began with `head`. `nil` if the download cannot be continued.
    package init?(_ head: ResponseHead, now: UnixTime) {
        guard head.status == 200, head.contentCodings.isEmpty,
            let total = head.contentLength, total > 0,
            let validator = StrongValidator(head, now: now)
        else { return nil }
        self.init(total: total, validator: validator)
        source = head.source
    }
}

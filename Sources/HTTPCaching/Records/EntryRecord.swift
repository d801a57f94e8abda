package import CacheKey
package import CacheModel
package import ImageFormats

/// The cache's notes on an entry beside its bytes: one line of text in one extended attribute.
///
///     v1 size=22031 type=image/png width=640 height=480 fetched=1790000000 fresh=1790003600 …
///
/// Fields are separated by single spaces and written in a fixed order. Absent fields are left out. A reader
/// skips unknown fields. `docs/disk-format.md` is the reference.
package struct EntryRecord: Hashable, Sendable {
    /// Bytes of the image. A file of another size is damaged.
    package var size: Int64
    package var mediaType: MediaType
    /// Pixels. `nil` if the image does not say.
    package var width: Int?
    /// Pixels. `nil` if the image does not say.
    package var height: Int?
    /// When the bytes were last received from the origin.
    package var fetchedAt: UnixTime
    /// The time until which the image can be used without asking the origin (RFC 9111 §4.2).
    package var freshUntil: UnixTime?
    /// The values for a conditional request.
    package var validators: Validators
    /// Whether the user has pinned the entry, which protects it from eviction.
    package var isPinned: Bool
    /// The conditions for using the image after it has become stale.
    package var terms: ReuseTerms
    /// When an image that must not be stored (`no-store`) is removed. `nil` for all others.
    package var removeAt: UnixTime?

    package init(
        size: Int64, mediaType: MediaType, width: Int?, height: Int?, fetchedAt: UnixTime,
        freshUntil: UnixTime?, validators: Validators, isPinned: Bool,
        terms: ReuseTerms = ReuseTerms(), removeAt: UnixTime? = nil
    ) {
        self.size = size
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.fetchedAt = fetchedAt
        self.freshUntil = freshUntil
        self.validators = validators
        self.isPinned = isPinned
        self.terms = terms
        self.removeAt = removeAt
    }

    /// The version that this code writes, and the only one that it reads.
    static let version = "v1"

    /// The text that replaces the record of a damaged entry that was pinned.
    ///
    /// It is not a record, so the file is not an entry. The next image under this name is pinned again.
    package static let pinOfDamaged = "damaged pinned=1"

    /// The name of the attribute with the record of a key: `user.cached.` and the first eight hex digits of the
    /// key.
    ///
    /// Several names could then share one file in a later version.
    package static func attributeName(of key: CacheKey) -> String {
        let digits = String(UInt32(truncatingIfNeeded: key.high >> 32), radix: 16)
        return "user.cached." + String(repeating: "0", count: 8 - digits.count) + digits
    }
}

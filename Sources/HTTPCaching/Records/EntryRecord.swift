package import CacheKey
package import CacheValues
package import ImageFormats

/// The cache's notes on an entry beside its bytes: everything that a scan and a lookup need, in one extended attribute.
///
/// The attribute is binary and so small that ext4 keeps it in the inode. `docs/lookup/disk-format.md` is the reference.
/// ``ValidatorRecord`` holds what only a request to the origin or a verification needs.
package struct EntryRecord: Hashable, Sendable {
    /// Bytes of the image. A file of another size is damaged.
    package var size: Int64
    package var mediaType: MediaType
    /// Pixels as a viewer shows them. `nil` if the image does not say.
    package var width: Int?
    /// Pixels as a viewer shows them. `nil` together with the width.
    package var height: Int?
    /// How a viewer turns the stored pixels.
    package var orientation = Orientation.upright
    /// When the bytes were last received from the origin.
    package var fetchedAt: UnixTime
    /// The time until which the image can be used without asking the origin (RFC 9111 §4.2).
    package var freshUntil: UnixTime?
    /// The values for a conditional request. They are in a ``ValidatorRecord`` of their own; empty if that was not
    /// read.
    package var validators: Validators
    /// Whether the user has pinned the entry, which protects it from eviction.
    package var isPinned: Bool
    /// The conditions for using the image after it has become stale.
    package var terms: ReuseTerms
    /// When an image that must not be stored (`no-store`) is removed. `nil` for all others.
    package var removeAt: UnixTime?
    /// The first bytes of the digest, see ``ContentDigest/prefix``. 0 if it is not known, because the record was lost.
    package var digestPrefix: UInt32 = 0
    /// Whether a shared cache may keep the image, so that it can be put into a store that several machines share.
    package var isShareable = false
    /// Whether the bytes came from such a store.
    package var isFromStore = false
    /// Whether the origin answered header fields of an account. Then only a caller who gives some can have it confirmed, and
    /// no other name shares the file.
    package var isPersonal = false
    /// Whether the other attributes of the entry are still to be written. It stays set if the daemon is killed before that.
    package var awaitsAttributes = false

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

    /// Takes the type and the size from the findings about the bytes.
    package mutating func take(_ report: ImageReport) {
        mediaType = report.mediaType ?? .other
        (width, height, orientation) = (report.width, report.height, report.orientation)
    }

    /// The name of the attribute with the record of a key: `user.cached.` and the first eight hex digits of the
    /// key.
    ///
    /// The digits keep a file that was given the name of another entry from being one, and let several names share
    /// one file. A longer name would not fit into the inode with its value.
    package static func attributeName(of key: CacheKey) -> String {
        EntryAttributes.name(of: key)
    }
}

/// The names of an entry's extended attributes that other programs read too.
enum EntryAttributes {
    /// The URL as it was given; a freedesktop.org convention.
    static let url = "user.xdg.origin.url"
    /// The media type told from the bytes; a freedesktop.org convention.
    static let mediaType = "user.mime_type"
    /// The SHA-256 of the bytes, 64 hex digits.
    static let sha256 = "user.cached.sha256"

    /// Room for any value the cache writes: ext4 gives all attributes of a file one block of 4 KiB.
    static let maximumLength = 4096
}

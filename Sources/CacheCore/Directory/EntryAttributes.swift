/// The names of the extended attributes that other programs read too.
enum EntryAttributes {
    /// The URL as the caller gave it. The name is a convention of freedesktop.org.
    static let url = "user.xdg.origin.url"
    /// The media type, told from the bytes. The name is a convention of freedesktop.org.
    static let mediaType = "user.mime_type"
    /// The SHA-256 of the bytes, in 64 hex digits.
    static let sha256 = "user.cached.sha256"

    /// Bytes of the whole image, in decimal digits, on a partial whose length is known.
    static let total = "user.cached.total"

    /// Bytes. No value of the cache is longer than the longest URL.
    static let maximumLength = 8192
}

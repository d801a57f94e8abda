/// The names of extended attributes that do not depend on the name of the file.
package enum EntryAttributes {
    /// The URL as the caller gave it. The name is a convention of freedesktop.org.
    package static let url = "user.xdg.origin.url"
    /// The media type, told from the bytes. The name is a convention of freedesktop.org.
    package static let mediaType = "user.mime_type"
    /// The SHA-256 of the bytes, in 64 hex digits, beside a record of the first version.
    package static let firstDigest = "user.cached.sha256"

    /// Bytes of the whole image, in decimal digits, on a partial whose length is known.
    package static let total = "user.cached.total"

    /// Bytes. No value of the cache is longer than the longest URL.
    package static let maximumLength = 8192
    /// Bytes. No record of any version is longer.
    package static let maximumRecordLength = 1024
}

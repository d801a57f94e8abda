package import CacheKey

/// The names of extended attributes beside the record and the validators.
package enum EntryAttributes {
    /// The URL as the caller gave it. The name is a convention of freedesktop.org.
    package static let url = "user.xdg.origin.url"
    /// The media type, determined from the bytes. The name is a convention of freedesktop.org.
    package static let mediaType = "user.mime_type"
    /// The SHA-256 of the bytes, in 64 hex digits, on a file with several names.
    package static let fileDigest = "user.cached.sha256"

    /// The URL of one name of a file that has several. ``url`` is that of the file's first name.
    package static func url(of key: CacheKey) -> String {
        EntryRecord.attributeName(of: key) + ".url"
    }

    /// The URL that the image of a name was downloaded from, if another URL names it.
    package static func source(of key: CacheKey) -> String {
        EntryRecord.attributeName(of: key) + ".source"
    }

    /// Bytes of the whole image, in decimal digits, on a partial whose length is known.
    package static let total = "user.cached.total"

    /// Bytes. No value of the cache is longer than the longest URL.
    package static let maximumLength = 8192
    /// Bytes. No record is longer.
    package static let maximumRecordLength = 1024
}

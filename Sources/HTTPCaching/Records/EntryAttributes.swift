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
        name(of: key, ".url")
    }

    /// The URL that the image of a name was downloaded from, if another URL names it.
    package static func source(of key: CacheKey) -> String {
        name(of: key, ".source")
    }

    /// An attribute that belongs to one name of a file: `user.cached.`, the first eight digits of the key, and an
    /// ending.
    static func name(of key: CacheKey, _ ending: StaticString = "") -> String {
        let (start, digits): (StaticString, Int) = ("user.cached.", 8)
        // The key is written whole, and its other digits are written over or left out.
        return String(unsafeUninitializedCapacity: start.utf8CodeUnitCount + CacheKey.nameLength) {
            let text = UnsafeMutableRawBufferPointer($0)
            text.copyBytes(
                from: UnsafeRawBufferPointer(start: start.utf8Start, count: start.utf8CodeUnitCount)
            )
            var count = start.utf8CodeUnitCount
            key.write(to: UnsafeMutableRawBufferPointer(rebasing: text[count...]))
            count += digits
            let rest = UnsafeMutableRawBufferPointer(rebasing: text[count...])
            rest.copyBytes(
                from: UnsafeRawBufferPointer(
                    start: ending.utf8Start, count: ending.utf8CodeUnitCount))
            return count + ending.utf8CodeUnitCount
        }
    }

    /// Bytes of the whole image, in decimal digits, on a partial whose length is known.
    package static let total = "user.cached.total"

    /// Bytes. No value of the cache is longer than the longest URL.
    package static let maximumLength = 8192
    /// Bytes. No record is longer.
    package static let maximumRecordLength = 1024
}

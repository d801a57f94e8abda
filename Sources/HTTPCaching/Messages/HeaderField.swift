/// The header fields that matter to a cache. The raw values are their names in lower case.
enum HeaderField: String, CaseIterable {
    case contentLength = "content-length"
    case transferEncoding = "transfer-encoding"
    case contentEncoding = "content-encoding"
    case contentRange = "content-range"
    case location
    case etag
    case lastModified = "last-modified"
    case date
    case expires
    case age
    case retryAfter = "retry-after"
    case cacheControl = "cache-control"
    case pragma
    case vary
    case storeRecord = "x-amz-meta-record"
    case storeDigest = "x-amz-meta-sha256"
    case storeURLDigest = "x-amz-meta-url-digest"
    case storeLeftOut = "x-amz-meta-left-out"
    case storeClaim = "x-amz-meta-claim"
    case storeSignature = "x-amz-meta-signature"

    private static let names = allCases.map { (field: $0, name: Array($0.rawValue.utf8)) }

    /// - Parameter name: the name in any case of letters (RFC 9110 §5.1). `nil` for any other field.
    init?(_ name: Slice<UnsafeRawBufferPointer>) {
        let found = Self.names.first { field in
            // Most fields of a response are not listed here, and their length is enough to know.
            field.name.count == name.count
                && name.elementsEqual(field.name) { $0.lowercasedASCII == $1 }
        }
        guard let found else { return nil }
        self = found.field
    }
}

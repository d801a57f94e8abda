extension Failure {
    /// The classes of failure. The raw values are part of the protocol.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The text is not a URL that the cache can name.
        case invalidURL
        /// No request can have the header fields of the account.
        case invalidHeaders
        /// The host name does not resolve.
        case unresolved
        /// The connection could not be made, or it was lost.
        case unreachable
        /// The server was too slow.
        case timeout
        /// The certificate or the TLS handshake is not acceptable.
        case tls
        /// The host's address is outside of the public Internet and not allowed.
        case addressRefused
        /// The server answered with a status that brings no whole image; see ``Failure/httpStatus``.
        case http
        /// There are too many redirects, or one leads to another scheme.
        case redirect
        /// The response breaks HTTP, or its body cannot be unpacked.
        case protocolError
        /// The body ended before its promised length or before the end of the image.
        case truncated
        /// Neither the framing nor the image itself shows whether all bytes arrived.
        case unverifiable
        /// The bytes are not an image of an accepted type.
        case notAnImage
        /// The image is larger than the limit for one image.
        case tooLarge
        /// No image of the size that was asked for can be made of the original.
        case underivable
        /// The SHA-256 of the bytes is not the one that the caller asked for.
        case digestMismatch
        /// A directory has the file name of the image.
        case obstructed
        /// The file of the image does not contain the bytes that were fetched.
        case damaged
        /// The cache directory could not store the bytes.
        case storage
        /// The image does not fit beside the entries that must not be evicted.
        case noRoom
        /// The request needs the image to be in the cache, and it is not.
        case notCached
        /// Too many files are open, so that the image's file cannot be handed over.
        case tooManyFiles
        /// The image did not come within the time that the caller gave.
        case deadline
        /// The download waits because prefetching is off.
        case prefetchOff
        /// The image was removed during its download.
        case removed
        /// The daemon is shutting down.
        case shuttingDown
    }
}

/// Why one image could not be had.
public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The classes of failure; the raw values are part of the protocol.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The text is not a URL the cache can name.
        case invalidURL
        /// The host name does not resolve.
        case unresolved
        /// No connection could be made, or it was lost.
        case unreachable
        /// The server was too slow.
        case timeout
        /// The certificate or the TLS handshake is not acceptable.
        case tls
        /// The host's address is not on the public Internet and not allowed.
        case addressRefused
        /// The server answered with a status other than 200; see ``Failure/httpStatus``.
        case http
        /// Redirects lead to another scheme, or are too many.
        case redirect
        /// The server's answer breaks HTTP, or is encoded in a way that was not asked for.
        case protocolError
        /// The body ended before its promised length or before the image's own end.
        case truncated
        /// Nothing tells whether all bytes arrived: neither the framing nor the image itself.
        case unverifiable
        /// The bytes are not an image of an accepted type.
        case notAnImage
        /// More bytes than one image may have.
        case tooLarge
        /// The bytes are not those the caller asked for by SHA-256.
        case digestMismatch
        /// A directory lies under the image's name.
        case obstructed
        /// What lies under the image's name is not what was fetched.
        case damaged
        /// The cache directory could not take the bytes.
        case storage
        /// The image does not fit beside what may not be evicted.
        case noRoom
        /// What was asked for needs the image to be in the cache.
        case notCached
        /// The image was removed while it was on its way.
        case removed
        /// The daemon is shutting down.
        case shuttingDown
    }

    public let kind: Kind
    /// What happened and what to do about it, for a person.
    public let message: String
    /// The status of the last response, for ``Kind/http``.
    public let httpStatus: Int?
    /// When the next attempt will be made, or may be; until then this is the answer.
    public let retryAt: UnixTime?

    /// Bytes. Some of it may be an origin's words, and failures are remembered.
    private static let longestMessage = 2048

    public init(
        _ kind: Kind, _ message: String, httpStatus: Int? = nil, retryAt: UnixTime? = nil
    ) {
        self.kind = kind
        self.message = message.cut(toBytes: Self.longestMessage)
        self.httpStatus = httpStatus
        self.retryAt = retryAt
    }

    /// The same, with the time of the next attempt.
    func retrying(at time: UnixTime?) -> Failure {
        Failure(kind, message, httpStatus: httpStatus, retryAt: time)
    }

    public var description: String { "\(kind.rawValue): \(message)" }
}

extension String {
    /// As much of it as fits; what one sees as a character may be any number of bytes.
    func cut(toBytes limit: Int) -> String {
        utf8.count <= limit ? self : String(decoding: utf8.prefix(limit), as: UTF8.self)
    }
}

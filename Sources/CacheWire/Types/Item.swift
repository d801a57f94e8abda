/// The cache's knowledge about one URL.
///
/// The ``state`` determines which fields are present. An absent field is left out of the JSON.
/// Times are Unix seconds, sizes are bytes.
public struct Item: Codable, Sendable, Hashable {
    /// Whether a complete file exists.
    public enum State: String, Codable, Sendable, Hashable, CaseIterable {
        /// There is neither a complete file nor a download. `failure` can give the reason.
        case missing
        /// The image is being downloaded; see ``Phase``.
        case inFlight
        /// There is a complete, checked and durable file at `path`.
        case cached
    }

    /// The phase of a download.
    public enum Phase: String, Codable, Sendable, Hashable, CaseIterable {
        /// Waits for a slot, or until its host may be asked again.
        case queued
        /// Looks up the host, connects, or waits for the first byte.
        case connecting
        /// Receives bytes.
        case receiving
        /// Waits for the next attempt.
        case retrying
        /// Has received all bytes and is making them durable.
        case publishing
    }

    /// The URL, byte for byte as it was requested.
    public var url: String
    /// The file's name: the UUIDv5 of the URL.
    public var key: String
    /// Determines which of the following fields are present.
    public var state: State

    // In flight; or cached while it is being refreshed.

    /// The phase of the download.
    public var phase: Phase?
    /// Bytes received so far, including those of a resumed download.
    public var received: Int?
    /// Expected bytes; absent while unknown.
    public var total: Int?
    /// The received share, 0 to 100; absent while the total is unknown.
    public var percent: Double?

    // Cached.

    /// The absolute path of the file.
    public var path: String?
    /// The length of the file in bytes.
    public var size: Int?
    /// The media type found in the bytes, for example `image/png`.
    public var mediaType: String?
    /// In pixels.
    public var width: Int?
    /// In pixels.
    public var height: Int?
    /// The digest of the file, 64 hexadecimal digits. Only with details.
    public var sha256: String?
    /// When the bytes were received from the origin. Only with details.
    public var fetchedAt: Int?
    /// Until when the image is fresh. Only with details.
    public var freshUntil: Int?
    /// When the file was last used. Only with details.
    public var lastUsedAt: Int?
    /// Whether the file is protected from eviction. Only with details.
    public var pinned: Bool?

    /// Why the last attempt failed. An image that is cached but could not be refreshed has it too.
    /// In the last reply to `Fetch`: why the request could not be fulfilled.
    public var failure: Failure?

    /// Creates an item with only the required fields.
    public init(url: String, key: String, state: State) {
        self.url = url
        self.key = key
        self.state = state
    }
}

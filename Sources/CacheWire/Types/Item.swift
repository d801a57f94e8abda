/// What the cache knows about one URL.
///
/// Which fields are there follows from ``state``; an absent field is left out of the JSON.
/// Times are Unix seconds, sizes bytes.
public struct Item: Codable, Sendable, Hashable {
    /// Whether there is a whole file.
    public enum State: String, Codable, Sendable, Hashable, CaseIterable {
        /// No whole file, and no download under way; `failure` may say why.
        case missing
        /// A download is under way; see ``Phase``.
        case inFlight
        /// There is a whole, checked, durable file at `path`.
        case cached
    }

    /// How far a download has come.
    public enum Phase: String, Codable, Sendable, Hashable, CaseIterable {
        /// Waits for its turn.
        case queued
        /// Looks up the host, connects, or waits for the first byte.
        case connecting
        /// The bytes arrive.
        case receiving
        /// Waits before it tries again.
        case retrying
        /// All bytes are here and are being made durable.
        case publishing
    }

    /// The URL as it was asked for, byte for byte.
    public var url: String
    /// The file's name: the UUIDv5 of the URL.
    public var key: String
    /// Decides which of the fields below are there.
    public var state: State

    // In flight; or cached, while the origin is asked about it or sends a newer version.

    /// How far the download has come.
    public var phase: Phase?
    /// Bytes received so far, those of a resumed part included.
    public var received: Int?
    /// Bytes expected; absent while unknown.
    public var total: Int?
    /// Received of total, 0 to 100; absent while the total is unknown.
    public var percent: Double?

    // Cached.

    /// The absolute path of the file.
    public var path: String?
    /// The length of the file in bytes.
    public var size: Int?
    /// The type found in the bytes, as in `image/png`.
    public var mediaType: String?
    /// In pixels.
    public var width: Int?
    /// In pixels.
    public var height: Int?
    /// Of the file, 64 hexadecimal digits; with details only.
    public var sha256: String?
    /// When the bytes were received from the origin; with details only.
    public var fetchedAt: Int?
    /// Until when they need no confirmation; with details only.
    public var freshUntil: Int?
    /// When the file was last used; with details only.
    public var lastUsedAt: Int?
    /// Whether the file is kept from eviction; with details only.
    public var pinned: Bool?

    /// Why the last attempt failed, also where an image is there that could not be confirmed. In the last
    /// reply to `Fetch`: why it could not be had as asked for.
    public var failure: Failure?

    /// An item with nothing but the fields every item has.
    public init(url: String, key: String, state: State) {
        self.url = url
        self.key = key
        self.state = state
    }
}

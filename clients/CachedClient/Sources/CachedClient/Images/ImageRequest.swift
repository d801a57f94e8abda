internal import ClientCore

/// An image that is wanted.
public struct ImageRequest: Sendable, Hashable {
    /// The URL, compared byte for byte. It is not normalised.
    public var url: String
    public var priority: Priority
    /// Whether to ask the origin even if the cached image is fresh.
    public var refresh: Bool
    /// The SHA-256 that the bytes must have, as 64 hexadecimal digits. An image with another digest is a failure.
    public var sha256: String?

    public init(
        _ url: String, priority: Priority = .normal, refresh: Bool = false, sha256: String? = nil
    ) {
        self.url = url
        self.priority = priority
        self.refresh = refresh
        self.sha256 = sha256
    }

    var options: StreamOptions {
        StreamOptions(refresh: refresh, sha256: sha256.map { Array($0.utf8) } ?? [])
    }
}

extension ImageRequest: ExpressibleByStringLiteral {
    public init(stringLiteral url: String) {
        self.init(url)
    }
}

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
    /// The failed attempts after which the image has failed; `nil` for as many as the daemon makes.
    public var attempts: Int?
    /// The time after which the image has failed, with the kind `deadline`. For others, the download goes on.
    public var timeout: Duration?
    /// Header fields for the request of an account, `["Authorization": "Bearer TOKEN"]` for example. Only for a URL
    /// that names the account with `#as=`. They are kept in memory as long as the image is wanted.
    public var headers: [String: String] = [:]
    /// The media types that the program can decode, such as `image/png` or `image/*`; empty for all. An image of
    /// another type fails with the kind `notAccepted`, and stays cached.
    public var accept: [String] = []

    public init(
        _ url: String, priority: Priority = .normal, refresh: Bool = false, sha256: String? = nil
    ) {
        self.url = url
        self.priority = priority
        self.refresh = refresh
        self.sha256 = sha256
    }

    var options: StreamOptions {
        StreamOptions(
            refresh: refresh, sha256: sha256.map { Array($0.utf8) } ?? [], terms: terms)
    }

    /// Whether the program can decode a file; it tries one of an unknown type.
    func accepts(_ file: ImageFile) -> Bool {
        file.mediaType.map { terms.accepts(Array($0.utf8)) } ?? true
    }

    private var terms: WantTerms {
        var terms = WantTerms()
        if let attempts { terms.attempts = Int32(clamping: max(attempts, 1)) }
        if let timeout { terms.timeout = max(timeout.milliseconds, 1) }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            terms.addHeader(name.utf8, value.utf8)
        }
        terms.accept = Array(accept.joined(separator: ",").utf8)
        return terms
    }
}

extension Duration {
    /// The time in milliseconds, rounded down.
    var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}

extension ImageRequest: ExpressibleByStringLiteral {
    public init(stringLiteral url: String) {
        self.init(url)
    }
}

import HTTPCaching

/// Gives the header fields that the user has set for some origins.
public protocol OriginHeaders: Sendable {
    /// The fields of every request to an origin. The transfers' thread calls this before each request.
    ///
    /// - Parameter origin: like `https://example.org`, in lower case, with a port only if it is not the scheme's.
    func fields(for origin: String) -> [(name: String, value: String)]
}

extension OriginHeaders {
    /// The fields for a URL, and whether they say who asks, so that the response is private to this user
    /// (RFC 9111 §3.5).
    func fields(forURL url: String) -> (fields: [RequestField], areCredentials: Bool) {
        guard let origin = CurlURL(url)?.origin else { return ([], false) }
        let fields = fields(for: origin).map { RequestField(name: $0.name, value: $0.value) }
        let names = fields.map { $0.name.lowercased() }
        return (fields, names.contains("authorization") || names.contains("cookie"))
    }
}

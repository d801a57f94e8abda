/// Why an attempt to fetch a URL failed.
public struct Failure: Codable, Sendable, Hashable {
    /// A word that programs can compare, for example ``invalidURL``.
    public var kind: String
    /// One sentence for a person.
    public var message: String
    /// The HTTP status that the origin answered, if any.
    public var httpStatus: Int?
    /// The Unix second before which the cache does not ask the origin again.
    public var retryAt: Int?

    /// The kind for a URL that the cache does not accept. There was no attempt.
    public static let invalidURL = "invalidURL"

    public init(kind: String, message: String, httpStatus: Int? = nil, retryAt: Int? = nil) {
        self.kind = kind
        self.message = message
        self.httpStatus = httpStatus
        self.retryAt = retryAt
    }
}

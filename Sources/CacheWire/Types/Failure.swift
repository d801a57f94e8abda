/// Why an attempt to fetch a URL failed.
public struct Failure: Codable, Sendable, Hashable {
    /// A word programs can compare, as in ``invalidURL``.
    public var kind: String
    /// One sentence for a person.
    public var message: String
    /// The origin's status code, where it answered.
    public var httpStatus: Int?
    /// Before this Unix second the cache does not ask the origin again.
    public var retryAt: Int?

    /// The kind of a URL the cache cannot name; nothing was tried.
    public static let invalidURL = "invalidURL"

    public init(kind: String, message: String, httpStatus: Int? = nil, retryAt: Int? = nil) {
        self.kind = kind
        self.message = message
        self.httpStatus = httpStatus
        self.retryAt = retryAt
    }
}

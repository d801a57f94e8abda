// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// Why an attempt to fetch a URL failed.
public struct Failure: WireValue {
    /// A word that programs can compare, for example invalidURL: the text is not a valid URL.
    public var kind: String
    /// One sentence for a person.
    public var message: String
    /// The HTTP status that the origin answered, if any.
    public var httpStatus: Int?
    /// The time before which the cache does not ask the origin again.
    public var retryAt: Int?

    public init(
        kind: String,
        message: String,
        httpStatus: Int? = nil,
        retryAt: Int? = nil
    ) {
        self.kind = kind
        self.message = message
        self.httpStatus = httpStatus
        self.retryAt = retryAt
    }

    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("kind", kind)
            json.member("message", message)
            json.member("httpStatus", httpStatus)
            json.member("retryAt", retryAt)
        }
    }
}

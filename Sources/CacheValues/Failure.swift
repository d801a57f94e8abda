/// The reason why the cache could not deliver one image.
///
///     let failure = Failure(.http, "the server answered 404", httpStatus: 404)
///     print(failure)  // http: the server answered 404
public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The class of the failure.
    public let kind: Kind
    /// A message for people that names the problem and the remedy.
    public let message: String
    /// The status of the last response. Set for ``Kind/http`` only.
    public let httpStatus: Int?
    /// The time of the next attempt, or the first time at which one is possible. Until then the cache
    /// answers with this failure.
    public let retryAt: UnixTime?
    /// Whether the server sent a page, or nothing at all, with a status of success. Portals, overload and outages
    /// do that, so it says little about the image.
    package let isStandIn: Bool

    /// Bytes. A message can quote the origin, and the cache remembers failures.
    private static let longestMessage = 2048

    /// - Parameters:
    ///   - kind: the class of the failure.
    ///   - message: names the problem and the remedy. Cut to 2 KiB.
    ///   - httpStatus: the status of the last response, for ``Kind/http``.
    ///   - retryAt: the time of the next attempt, if one is planned.
    public init(
        _ kind: Kind, _ message: String, httpStatus: Int? = nil, retryAt: UnixTime? = nil
    ) {
        self.kind = kind
        self.message = message.cut(toBytes: Self.longestMessage)
        self.httpStatus = httpStatus
        self.retryAt = retryAt
        isStandIn = false
    }

    private init(_ failure: Failure, retryAt: UnixTime?, isStandIn: Bool) {
        (kind, message, httpStatus) = (failure.kind, failure.message, failure.httpStatus)
        (self.retryAt, self.isStandIn) = (retryAt, isStandIn)
    }

    package static func http(_ status: Int) -> Failure {
        let part = 200..<300 ~= status ? ", but not with the whole image" : ""
        return Failure(
            .http, "the server answered with status \(status)\(part)", httpStatus: status)
    }

    /// The same failure, of a body that stands in for the image.
    package var markedAsStandIn: Failure { Failure(self, retryAt: retryAt, isStandIn: true) }

    /// The same failure with another time of the next attempt.
    package func retrying(at time: UnixTime?) -> Failure {
        Failure(self, retryAt: time, isStandIn: isStandIn)
    }

    /// The kind and the message.
    public var description: String { "\(kind.rawValue): \(message)" }
}

extension String {
    /// The longest prefix of at most `limit` bytes. A character that the limit splits is replaced.
    ///
    /// Bytes are counted because one character can have any number of them.
    package func cut(toBytes limit: Int) -> String {
        utf8.count <= limit ? self : String(decoding: utf8.prefix(limit), as: UTF8.self)
    }
}

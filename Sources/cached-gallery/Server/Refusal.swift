import NIOHTTP1

/// Why a request is not answered.
struct Refusal: Error, Hashable {
    let status: HTTPResponseStatus
    /// A sentence for a person. It repeats nothing of the request.
    let message: String

    init(_ status: HTTPResponseStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    static let nothingHere = Refusal(.notFound, "there is nothing at this address")
    static let foreignHost = Refusal(.misdirectedRequest, "this server has another name")
    static let foreignSite = Refusal(.forbidden, "the request comes from another site")
    static let method = Refusal(.methodNotAllowed, "this method is not permitted here")
    static let query = Refusal(.badRequest, "a parameter is absent, twice there, or not valid")
    static let body = Refusal(.badRequest, "the body is not the JSON that belongs here")
    static let bodyType = Refusal(.unsupportedMediaType, "the body must be application/json")
    static let bodySize = Refusal(.payloadTooLarge, "the body is longer than 1 MiB")
    static let headSize = Refusal(
        .requestHeaderFieldsTooLarge, "the head is longer than \(HeadLimiter.limit) bytes")
    static let tooBusy = Refusal(.serviceUnavailable, "too many requests at a time; try again")
}

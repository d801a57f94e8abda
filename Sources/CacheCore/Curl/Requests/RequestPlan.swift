internal import CacheKey

/// The next request of a download.
struct RequestPlan {
    /// The flight that the download belongs to.
    let flight: FlightID
    /// The URL in the form that is sent.
    var url: String
    var route: RequestRoute
    var headers = RequestHeaders.usual
    /// Whether the request may share a connection with others, as HTTP/2 permits.
    let mayShareConnection: Bool
    /// Whether libcurl must not reuse a connection that is open already.
    var needsNewConnection = false
    /// When the download sent its first request, or is about to. Redirects and repeated requests only add to
    /// the age of a response.
    var firstSentAt = UnixTime.now
    /// The redirects that led to the URL, as ``ResponseHead/init(after:)`` keeps them.
    var head = ResponseHead()
}

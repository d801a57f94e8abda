import CacheFetching
internal import CacheKey
import CacheValues
import HTTPCaching

/// The next request of a download.
struct RequestPlan {
    /// The flight that the download belongs to.
    let flight: FlightID
    /// The URL in the form that is sent.
    var url: String
    var route: RequestRoute
    /// Header fields in addition to those that every request has.
    var fields: [RequestField] = []
    /// The header fields of an account. They are for the origin of the URL alone.
    var accountFields: [RequestField] = []
    /// Whether the request may share a connection with others, as HTTP/2 permits.
    let mayShareConnection: Bool
    /// Whether the same request has just failed by HTTP/2, so that it is sent by HTTP/1.1.
    var leavesHTTP2 = false
    /// Whether only programs in sandboxes want the image, so that it comes from public addresses alone.
    var isForGuests = false
    /// Whether libcurl must not reuse a connection that is open already.
    var needsNewConnection = false
    /// Cookies that the redirects so far have set, as lines of a Netscape cookie file. libcurl sends each to the
    /// hosts it belongs to. They are forgotten with the plan.
    var cookies: [String] = []
    /// Whether libcurl undoes the content codings of the body.
    var decodesBody = true
    /// The additional parts of a request to a store; `nil` for an origin.
    var store: StoreRequest?
    /// When the download sent its first request, or is about to. Redirects and repeated requests only add to
    /// the age of a response.
    var firstSentAt = UnixTime.now
    /// The redirects that led to the URL, as ``ResponseHead/init(after:)`` keeps them.
    var head = ResponseHead()
}

import CacheWire
import NIOCore
import NIOHTTP1

/// The answer to a request.
struct Response {
    enum Body {
        case bytes(ByteBuffer)
        case file(FileRegion)
        /// Events until one side closes.
        case events(EventStream)
    }

    var status = HTTPResponseStatus.ok
    var headers: HTTPHeaders
    var body: Body

    init(
        _ status: HTTPResponseStatus = .ok, type: String, _ body: Body,
        policy: String = SecurityHeaders.policy
    ) {
        self.status = status
        self.body = body
        headers = SecurityHeaders.all(policy)
        headers.add(name: "Content-Type", value: type)
        if case .bytes(let bytes) = body {
            headers.add(name: "Content-Length", value: "\(bytes.readableBytes)")
        }
    }

    /// JSON that never enters a cache.
    static func json(_ json: ByteBuffer, _ status: HTTPResponseStatus = .ok) -> Response {
        var response = Response(status, type: "application/json", .bytes(json))
        response.headers.add(name: "Cache-Control", value: "no-store")
        return response
    }

    static func json(_ write: (inout JSONText) -> Void) -> Response {
        var text = JSONText()
        text.object(write)
        return json(ByteBuffer(bytes: text.bytes))
    }

    static func refusal(_ refusal: Refusal) -> Response {
        var text = JSONText()
        text.object { $0.member("message", refusal.message) }
        return json(ByteBuffer(bytes: text.bytes), refusal.status)
    }

    /// The page shows the message. The status is 200 because nothing is wrong with the request, and browsers log other
    /// ones as errors.
    static func failure(_ failure: CallFailure) -> Response {
        json { json in
            json.member("message", failure.message)
            json.member("isAway", failure.isAway ? true : nil)
        }
    }
}

import CacheWire
import NIOCore
import Testing

@testable import cached

/// Calls that are left to another thread because they would delay other clients, and calls that are too long.
@Suite("Incoming call")
struct IncomingCallTests {
    private func call(_ method: String, _ url: String, count: Int) -> ByteBuffer {
        let urls = Array(repeating: "\"\(url)\"", count: count).joined(separator: ",")
        return ByteBuffer(
            string: "{\"method\":\"io.cached.Cache.\(method)\",\"parameters\":{\"urls\":[\(urls)]}}"
        )
    }

    @Test(arguments: [
        ("Status", "http://example.com/a.png", 1), ("Status", "http://example.com/a.png", 4000),
        ("Status", "", 4096), ("Fetch", "http://example.com/a.png", 1000),
    ])
    func theEventLoopAnswersAShortCall(method: String, url: String, count: Int) {
        #expect(!IncomingCall.isLong(call(method, url, count: count)))
    }

    /// A call is long by its bytes, or by its URLs: a small message can name very many short ones.
    @Test(arguments: [
        ("Status", "http://example.com/a.png", 10_000), ("Status", "", 85_000),
        ("Status", "a", 12_000), ("Fetch", "http://example.com/a.png", 2000),
    ])
    func anotherThreadAnswersALongCall(method: String, url: String, count: Int) {
        #expect(IncomingCall.isLong(call(method, url, count: count)))
    }

    /// With and without a decoder: an escape is left to the decoder.
    @Test(arguments: ["Status", "Fetch", "Watch", "Remove", "Pin"], ["", "\\n"])
    func aCallThatNamesTooManyURLsIsRefused(method: String, url: String) throws {
        let limit = IncomingCall.urlLimit
        #expect(limit >= 100_000)
        if case .failure = try request(method, url, count: limit) {
            Issue.record("\(limit) URLs are refused")
        }
        guard case .failure(let error) = try request(method, url, count: limit + 1) else {
            Issue.record("\(limit + 1) URLs are taken")
            return
        }
        #expect(error == .tooMany(limit: limit))
    }

    private func request(
        _ method: String, _ url: String, count: Int
    ) throws -> Result<IncomingCall.Request, WireError> {
        let urls = Array(repeating: "\"\(url)\"", count: count).joined(separator: ",")
        let pinned = method == "Pin" ? ",\"pinned\":true" : ""
        let text = """
            {"method":"io.cached.Cache.\(method)","parameters":{"urls":[\(urls)]\(pinned)}}
            """
        return try Array(text.utf8).withUnsafeBytes {
            try IncomingCall.decode($0).get().request
        }
    }
}

import NIOCore
import Testing

@testable import cached

/// The event loop leaves calls to another thread if they would delay other clients.
@Suite("Call dispatcher")
struct CallDispatcherTests {
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
        #expect(!CallDispatcher.isLong(call(method, url, count: count)))
    }

    /// A call is long by its bytes, or by its URLs: a small message can name very many short ones.
    @Test(arguments: [
        ("Status", "http://example.com/a.png", 10_000), ("Status", "", 85_000),
        ("Status", "a", 12_000), ("Fetch", "http://example.com/a.png", 2000),
    ])
    func anotherThreadAnswersALongCall(method: String, url: String, count: Int) {
        #expect(CallDispatcher.isLong(call(method, url, count: count)))
    }
}

import NIOCore
import Testing

@testable import cached

/// Which calls the event loop leaves to another thread, because everybody else would wait for them.
@Suite("Long calls")
struct LongCallTests {
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
    func aShortOneIsAnsweredAtOnce(method: String, url: String, count: Int) {
        #expect(!Connection.isLong(call(method, url, count: count)))
    }

    /// By its bytes, or by its URLs: of nothings a small message names very many.
    @Test(arguments: [
        ("Status", "http://example.com/a.png", 10_000), ("Status", "", 85_000),
        ("Status", "a", 12_000), ("Fetch", "http://example.com/a.png", 2000),
    ])
    func aLongOneIsNot(method: String, url: String, count: Int) {
        #expect(Connection.isLong(call(method, url, count: count)))
    }
}

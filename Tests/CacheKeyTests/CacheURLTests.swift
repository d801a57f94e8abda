import CacheKey
import Testing

@Suite struct CacheURLTests {
    /// Their keys differ too. As Unicode text, the two are the same.
    @Test func urlsAreComparedByTheirBytes() throws {
        let composed = try CacheURL("https://a/\u{E9}.png")
        let decomposed = try CacheURL("https://a/e\u{301}.png")
        #expect(composed.string == decomposed.string)
        #expect(composed != decomposed && CacheKey(composed) != CacheKey(decomposed))
    }

    @Test(arguments: [
        "http://a", "https://example.com", "https://example.com/",
        "https://example.com/a.png?w=1&h=2",
        "HTTPS://example.com/", "https://example.com:8443/a", "https://example.com:/a",
        "http://[::1]/a", "http://[2001:db8::1]:80/a", "https://example.com?query",
        "https://例え.jp/画像.png", "https://example.com/%20", "https://example.com/a@b",
        "https://example.com/a b?c d",
        "https://example.com/" + String(repeating: "a", count: 8192 - 20),
    ])
    func validURLsAreAcceptedUnchanged(url: String) throws {
        #expect(try CacheURL(url).string == url)
        #expect(try CacheURL(url).description == url)
    }

    @Test(
        arguments: [
            ("", "it is empty"),
            (
                "https://example.com/" + String(repeating: "a", count: 8193 - 20),
                "it has 8193 bytes, more than 8192"
            ),
            ("https://example .com/a", "its host contains a space; remove it"),
            (" https://example.com/", "it begins or ends with a space; remove it"),
            ("https://example.com/ ", "it begins or ends with a space; remove it"),
            ("https://example.com/\n", "it contains a tab or the end of a line; remove it"),
            ("https://example.com/\ta", "it contains a tab or the end of a line; remove it"),
            (
                "https://example.com/\u{7F}",
                "it contains a control byte; percent-encode or remove it"
            ),
            ("https://example.com/\0", "it contains a control byte; percent-encode or remove it"),
            ("ftp://example.com/a", "its scheme is neither http nor https"),
            ("file:///etc/passwd", "its scheme is neither http nor https"),
            ("data:image/png;base64,AA", "its scheme is neither http nor https"),
            ("https:/example.com", "it is not absolute: it must start with http:// or https://"),
            (
                "example.com/a.png",
                "it is not absolute: it must start with http:// or https://"
            ),
            ("//example.com", "it is not absolute: it must start with http:// or https://"),
            ("/a.png", "it is not absolute: it must start with http:// or https://"),
            (
                "https://example.com/#top",
                "its fragment names no variant; leave off the #, or write #side=256 or #as=NAME"
            ),
            (
                "https://example.com#",
                "its fragment names no variant; leave off the #, or write #side=256 or #as=NAME"
            ),
            (
                "https://me@example.com/",
                "it carries a user name or password, which are never stored"
            ),
            ("https://me:pw@a/", "it carries a user name or password, which are never stored"),
            ("https://", "it names no host"),
            ("https:///a.png", "it names no host"),
            ("https://:80/", "it names no host"),
            ("http://[::1/", "it names no host"),
            ("https://a:65536/", "its port is not a number from 0 to 65535"),
            ("https://a:8o/", "its port is not a number from 0 to 65535"),
            ("https://a:1:2/", "its port is not a number from 0 to 65535"),
            ("http://[::1]80/", "its port is not a number from 0 to 65535"),
        ] as [(String, String)])
    func invalidURLsAreRejectedWithAReason(url: String, reason: String) {
        let error = #expect(throws: InvalidURL.self) { try CacheURL(url) }
        #expect(error?.reason == reason)
        #expect(error?.description == "not a URL that can be cached: \(reason)")
    }
}

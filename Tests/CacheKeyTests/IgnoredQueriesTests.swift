import Testing

@testable import CacheKey

@Suite("Ignored queries")
struct IgnoredQueriesTests {
    private func named(_ url: String, _ rules: String) throws -> String {
        try IgnoredQueries(rules).name(of: CacheURL(url)).string
    }

    @Test(arguments: [
        ("https://cdn.discordapp.com/a.png?ex=1&is=2&hm=3", "https://cdn.discordapp.com/a.png"),
        ("https://CDN.discordapp.com:8443/a.png?hm=3", "https://CDN.discordapp.com:8443/a.png"),
        (
            "https://cdn.discordapp.com/a.png?size=64&ex=1&v=2",
            "https://cdn.discordapp.com/a.png?size=64&v=2"
        ),
        (
            "https://s3.eu-west-1.amazonaws.com/b?X-Amz-Date=1&X-Amz-Signature=2&id=3",
            "https://s3.eu-west-1.amazonaws.com/b?id=3"
        ),
        ("https://img7.example.org?t=1", "https://img7.example.org"),
        ("https://all.example.net/a?b=1&c", "https://all.example.net/a"),
    ])
    func removesParameters(url: String, name: String) throws {
        let rules =
            "cdn.discordapp.com:ex,is,hm s3.*.amazonaws.com:X-Amz-* img*.example.org:t all.example.net:*"
        #expect(try named(url, rules) == name)
        // The name of a name is that name.
        #expect(try named(name, rules) == name)
    }

    @Test(arguments: [
        "https://cdn.discordapp.com/a.png", "https://cdn.discordapp.com/a.png?",
        "https://cdn.discordapp.com/a.png?EX=1", "https://cdn.discordapp.com/a.png?next=1&a=ex",
        "https://discordapp.com/a.png?ex=1", "https://x.cdn.discordapp.com/a.png?ex=1",
        "https://evil.test/cdn.discordapp.com?ex=1", "https://s3.a.b.amazonaws.com/?X-Amz-Date=1",
    ])
    func leavesOtherURLsAlone(url: String) throws {
        #expect(try named(url, "cdn.discordapp.com:ex,is,hm s3.*.amazonaws.com:X-Amz-*") == url)
    }

    @Test(arguments: [
        "cdn.example.com", "a.test,b.test:x", "*:x", "*.*:x", "https://a.test:x", "a.test/path:x",
        "a.test:", "a.test:x,,y", "a.test:x=1", ":x", "a..test:x", "a.test:80:x",
    ])
    func refusesWhatIsNoRule(text: String) {
        #expect(throws: IgnoredQueries.Problem.self) { try IgnoredQueries(text) }
    }

    @Test func noRulesChangeNothing() throws {
        #expect(try IgnoredQueries("  ").isEmpty)
        #expect(try named("https://a.test/?b=1", "") == "https://a.test/?b=1")
    }
}

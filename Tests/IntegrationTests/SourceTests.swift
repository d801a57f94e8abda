import CacheWire
import TestSupport
import Testing

/// Several URLs that one image can be downloaded from.
@Suite("Sources of an image", .timeLimit(.minutes(5)))
struct SourceTests {
    /// Fetches images, each named by a key.
    private func fetch(
        _ wants: [(url: String, key: String)], _ more: String = "", from daemon: DaemonFixture
    ) async throws -> [Item] {
        let list = wants.map { #"{"url":\#(quoted($0.url)),"key":\#(quoted($0.key))\#(more)}"# }
        let wants = #""wants":[\#(list.joined(separator: ","))]"#
        return try await daemon.ask(call("Fetch", parameters: wants)).items
    }

    /// An origin that refuses the old signature and takes the new one.
    private func signing(in scope: TestScope) throws -> ScriptedOrigin {
        let origin = try ScriptedOrigin(in: scope)
        origin.route("/a.png?sig=old", OriginScript.answer(403, body: []))
        origin.route("/a.png?sig=new", .answer(body: SampleImage.png()))
        return origin
    }

    // MARK: Several URLs

    @Test func theNextURLIsAskedWhenOneHasFailedForGood() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/text.png", .answer(body: Array("no image".utf8)))
            origin.route("/c.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            let (a, b) = (origin.url("/a.png"), origin.url("/text.png"))
            let output = try await daemon.cachectl(
                "fetch", a, "--or", b, "--or", origin.url("/c.png"))
            #expect(output.status == .success)
            #expect(try output.text == daemon.path(a) + "\n")
            let item = try await daemon.status(a, details: true)
            #expect(item.sourceURL == origin.url("/c.png") && item.failure == nil)
            for path in ["/a.png", "/text.png", "/c.png"] {
                #expect(origin.requests(path).count == 1, "\(path)")
            }
            #expect(try await daemon.cachectl("info", a).text.contains("/c.png"))
        }
    }

    @Test func eachURLIsAskedOnceIfAllFail() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let also =
                #","also":[\#(quoted(origin.url("/b.png"))),\#(quoted(origin.url("/c.png")))]"#
            for _ in 0..<2 {
                let items = try await fetch(
                    [(origin.url("/a.png"), origin.url("/key.png"))], also, from: daemon)
                #expect(items.first?.failure?.httpStatus == 404)
            }
            for path in ["/a.png", "/b.png", "/c.png"] {
                #expect(origin.requests(path).count == 1, "\(path)")
            }
            #expect(origin.requests("/key.png").isEmpty)
            // Alone, the first one is another source than the last.
            _ = try await fetch([(origin.url("/a.png"), origin.url("/key.png"))], from: daemon)
            #expect(origin.requests("/a.png").count == 2)
        }
    }

    @Test func otherURLsAreNotForOneAccount() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let want =
                #"{"url":"http://a.test/#as=a","also":["http://b.test/"],"headers":{"Cookie":"a=b"}}"#
            let reply = try await daemon.ask(call("Fetch", parameters: #""wants":[\#(want)]"#))
            #expect(reply.parameters?.parameter == "also")
        }
    }

    // MARK: Kept images

    @Test func anImageIsPinnedFromTheFirstByteOn() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 9000), after: 3000, gate))
            origin.route("/b.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
            let fetch = try daemon.startCachectl("fetch", "--pin", a)
            try await gate.reached()
            try await waitUntil("the pin") {
                try await daemon.status(a, details: true).pinned == true
            }
            gate.open()
            #expect(try await fetch.waitForExit() == .success)
            // A cached image is pinned when the call is answered.
            #expect(try await daemon.fetch(b).state == .cached)
            #expect(try await daemon.cachectl("fetch", "--pin", b).status == .success)
            for url in [a, b] {
                #expect(try await daemon.status(url, details: true).pinned == true)
            }
            try await daemon.cachectl("evict", "--to", "0")
            let again = try await daemon.replace(afterCrash: true)
            for url in [a, b] {
                #expect(try await again.status(url, details: true).pinned == true)
            }
        }
    }

    @Test func aDownloadWithoutAWaiterIsPinnedToo() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            let url = origin.url("/a.png")
            #expect(
                try await daemon.cachectl("fetch", "--pin", "--no-wait", url).status == .success)
            try await daemon.waitForState(.cached, of: url)
            #expect(try await daemon.status(url, details: true).pinned == true)
        }
    }

    @Test(arguments: ["keep", "remove"], [404, 410])
    func anImageThatItsOriginDeletedIsKeptAsConfigured(setting: String, status: Int) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = OriginScript.answer(
                headers: ["Cache-Control": "max-age=0"], body: SampleImage.png())
            origin.route("/a.png", image)
            let daemon = try await DaemonFixture.start(["--gone", setting], in: scope)
            let url = origin.url("/a.png")
            #expect(try await daemon.fetch(url).state == .cached)
            origin.route("/a.png", .answer(status))
            let item = try await daemon.fetch(url)
            #expect(item.failure?.httpStatus == status)
            #expect(item.state == (setting == "keep" ? .cached : .missing))
            try await waitUntil("the file is \(setting == "keep" ? "there" : "gone")") {
                (size(at: try daemon.path(url)) != nil) == (setting == "keep")
            }
            guard setting == "keep" else { return }
            // The failure is beside the entry, and the origin is asked when that may have passed.
            #expect(try await daemon.status(url).failure?.httpStatus == status)
            origin.route("/a.png", image)
            #expect(try await daemon.cachectl("fetch", "--refresh", url).status == .success)
            #expect(try await daemon.status(url).failure == nil)
        }
    }

    // MARK: Failures

    @Test func aNewSignatureIsAskedAtOnceAfterTheOldOneFailedByKey() async throws {
        try await withTestScope { scope in
            let origin = try signing(in: scope)
            let (key, old) = (origin.url("/a.png"), origin.url("/a.png?sig=old"))
            let daemon = try await DaemonFixture.start(in: scope)
            for _ in 0..<2 {
                let refused = try await fetch([(old, key)], from: daemon)
                #expect(refused.first?.failure?.httpStatus == 403)
            }
            // The same source is not asked again until `retryAt`.
            #expect(origin.requests("/a.png?sig=old").count == 1)
            let new = try await fetch([(origin.url("/a.png?sig=new"), key)], from: daemon)
            #expect(new.first?.state == .cached)
            #expect(try await daemon.status(key).failure == nil)
        }
    }

    @Test func aNewSignatureIsAskedAtOnceAfterTheOldOneFailedByARule() async throws {
        try await withTestScope { scope in
            let origin = try signing(in: scope)
            let daemon = try await DaemonFixture.start(
                environment: ["CACHED_IGNORE_QUERY": "127.0.0.1:sig"], in: scope)
            let refused = try await daemon.fetch(origin.url("/a.png?sig=old"))
            #expect(refused.failure?.httpStatus == 403)
            #expect(try await daemon.fetch(origin.url("/a.png?sig=new")).state == .cached)
        }
    }

    @Test func aSourceThatIsNamedDuringTheDownloadIsAskedWhenThatFails() async throws {
        try await withTestScope { scope in
            let origin = try signing(in: scope)
            let gate = try Gate()
            origin.route(
                "/a.png?sig=old",
                OriginScript([.wait(gate)] + OriginScript.answer(403, body: []).steps))
            let daemon = try await DaemonFixture.start(in: scope)
            let key = origin.url("/a.png")
            let stream = try daemon.connect()
            let wants =
                #""wants":[{"url":\#(quoted(origin.url("/a.png?sig=old"))),"key":\#(quoted(key))}]"#
            try await stream.send(call("Fetch", parameters: wants) + "\0")
            try await gate.reached()
            async let new = fetch([(origin.url("/a.png?sig=new"), key)], from: daemon)
            try await waitUntil("both calls to wait") { try await daemon.metric("joined") == 1 }
            gate.open()
            #expect(try await new.first?.state == .cached)
            #expect(try await stream.nextReply().items.first?.state == .cached)
        }
    }
}

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

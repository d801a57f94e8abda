import CacheWire
import Glibc
import TestSupport
import Testing

/// A connection is served by the hot loop until it does anything but ask one short plain call at a time. Its answers
/// are the same before and after.
@Suite("Hot loop", .serialized, .timeLimit(.minutes(5)))
struct HotLoopTests {
    /// The calls of a client before it sends a message.
    enum Past: CaseIterable {
        case nothing
        /// The hot loop has answered it.
        case status
        /// The event loop has answered it.
        case info
    }

    private static let url = "http://a.example/a.png"
    private static let status = call("Status", [url])
    private static let info = call("org.varlink.service.GetInfo")

    private func client(_ past: Past, of daemon: DaemonFixture) async throws -> VarlinkConnection {
        let client = try daemon.connect()
        switch past {
        case .nothing: break
        case .status: #expect(try await client.ask(Self.status).items.count == 1)
        case .info: #expect(try await client.ask(Self.info).parameters?.product == "cached")
        }
        return client
    }

    private static let messages: [String] = [
        status, info, "", "{}", "[]", "{", "\u{FEFF}{}", #"{"method":5}"#,
        call("Status"), call("Status", []), call("Status", ["", "no URL", "ftp://a/", url]),
        call("Status", ["sha256:00"]), call("Status", ["http://a.example/ü"]),
        call("Status", [#"http://a.example/"\"#]), call("Status", [url, url]),
        call("Status", (0..<31).map { "http://a.example/\($0)" }),
        call("Status", (0..<500).map { "http://a.example/\($0)" }),
        call("Status", [url], parameters: #""details":true"#),
        call("Status", [url], parameters: #""urls":[]"#),
        call("Status", [url], flags: [#""more":true"#]), call("Status", [url]) + "x",
        call("Fetch", []), call("Fetch", [], flags: [#""more":true"#]),
        call("Fetch", ["no URL"]), call("Fetch", [url], parameters: #""sha256":"a""#),
        call("Nothing", [url]), call("Stat", [url]),
    ]

    @Test func messagesHaveTheSameAnswersOnBothLoops() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            for message in Self.messages {
                var answers: Set<String> = []
                for past in Past.allCases {
                    answers.insert(try await client(past, of: daemon).call(message))
                }
                #expect(answers.count == 1, "\(message.prefix(200))")
            }
        }
    }

    @Test(arguments: Past.allCases)
    func callsInPiecesAndInOneWriteAreAnsweredInOrder(past: Past) async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let one = try await client(past, of: daemon)
            try await one.send(String(repeating: Self.status + "\0", count: 30) + Self.info + "\0")
            for _ in 0..<30 { #expect(try await one.nextReply().items.map(\.url) == [Self.url]) }
            #expect(try await one.nextReply().parameters?.product == "cached")
            let pieces = try await client(past, of: daemon)
            try await pieces.send(Self.status + "\0" + Self.status.prefix(30))
            #expect(try await pieces.nextReply().items.count == 1)
            try await pieces.send(Self.status.dropFirst(30) + "\0")
            #expect(try await pieces.nextReply().items.count == 1)
            pieces.endSending()
            #expect(try await pieces.receive() == nil)
        }
    }

    /// It asks one call after the other, and reads nothing. At some time an answer is sent in part only.
    @Test func aClientThatReadsLateGetsAllAnswers() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let (client, other) = (try daemon.connect(), try daemon.connect())
            let path = String(repeating: "x", count: 90)
            let urls = (0..<30).map { "http://a.example/\($0)/\(path)" }
            var known = try await calls(other)
            let count = 120
            for _ in 0..<count {
                try await client.send(call("Status", urls) + "\0")
                // Each question for the number of calls is a call too.
                var asked = 1
                while try await calls(other) < known + asked + 1 { asked += 1 }
                known += asked + 1
            }
            for _ in 0..<count {
                #expect(try await client.nextReply().items.map(\.url) == urls)
            }
            #expect(try await client.ask(Self.info).parameters?.product == "cached")
        }
    }

    private func calls(_ client: VarlinkConnection) async throws -> Int {
        let stats = try await client.ask(call("Stats")).parameters?.stats
        guard case .int(let calls)? = stats?["calls"] else { throw TestFailure("no calls") }
        return calls
    }

    @Test(arguments: Past.allCases)
    func aFetchOfWhatIsCachedIsAUse(past: Past) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let urls = ["/a.png", "/b.png", "/c.png"].map { origin.url($0) }
            for name in ["/a.png", "/b.png", "/c.png"] {
                origin.route(name, .answer(body: SampleImage.png()))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            for url in urls { #expect(try await daemon.fetch(url).state == .cached) }
            let hits = try await daemon.metric("hits")
            let client = try await client(past, of: daemon)
            for flags in [[], [#""more":true"#]] {
                let reply = try await client.ask(call("Fetch", [urls[1], urls[0]], flags: flags))
                #expect(reply.items.map(\.url) == [urls[1], urls[0]])
                #expect(reply.items.allSatisfy { $0.state == .cached && $0.path != nil })
                #expect(reply.continues != true)
            }
            #expect(try await daemon.metric("hits") == hits + 4)
            let listed = try await daemon.ask(call("List")).items.map(\.url)
            #expect(listed == [urls[0], urls[1], urls[2]])
            #expect(origin.requests().count == 3)
        }
    }

    /// One image of the call is missing, so the call waits for its download on the event loop.
    @Test(arguments: Past.allCases)
    func aFetchOfSomethingElseWaitsForIt(past: Past) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .answer(body: SampleImage.png()))
            origin.route("/b.png", .gated(SampleImage.png(byteCount: 900), after: 100, gate))
            let urls = [origin.url("/a.png"), origin.url("/b.png")]
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(urls[0]).state == .cached)
            let client = try await client(past, of: daemon)
            try await client.send(call("Fetch", urls) + "\0" + Self.status + "\0")
            try await gate.reached()
            gate.open()
            #expect(try await client.nextReply().items.map(\.state) == [.cached, .cached])
            #expect(try await client.nextReply().items.map(\.url) == [Self.url])
        }
    }

    /// Every question is asked after a change, so no answer may be older than it.
    @Test func anAnswerIsNeverOlderThanItsQuestion() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(url).state == .cached)
            let path = try daemon.path(url)
            let client = try daemon.connect()
            // Other clients, so that a turn has several questions.
            let others = try (0..<3).map { _ in try daemon.connect() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for other in others {
                    group.addTask {
                        while !Task.isCancelled { _ = try await other.ask(Self.status) }
                    }
                }
                for _ in 0..<200 {
                    #expect(rename(path, path + ".away") == 0)
                    #expect(try await client.ask(call("Status", [url])).items[0].state == .missing)
                    #expect(rename(path + ".away", path) == 0)
                    #expect(try await client.ask(call("Fetch", [url])).items[0].state == .cached)
                }
                group.cancelAll()
                try await group.waitForAll()
            }
            #expect(origin.requests().count == 1)
        }
    }
}

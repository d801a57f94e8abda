import CacheWire
import Glibc
import TestSupport
import Testing

/// The rules of Varlink (varlink.org/Method-Call), and the daemon's reaction to clients that break them.
@Suite("Protocol", .serialized, .timeLimit(.minutes(5)))
struct ProtocolTests {
    private let getInfo = call("org.varlink.service.GetInfo")

    @Test func aOnewayCallHasNoReply() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            let connection = try daemon.connect()
            let oneway = [#""oneway":true"#]
            for silent in [
                call("Status", ["http://a.example/"], flags: oneway),
                call("Stats", flags: oneway), call("List", flags: oneway),
                call("org.varlink.service.GetInfo", flags: oneway),
                call("Nonsense", flags: oneway),
                call("Fetch", [origin.url("/a.png")], flags: oneway),
                call("Fetch", [origin.url("/a.png")], flags: oneway + [#""more":true"#]),
            ] {
                try await connection.send(silent + "\0")
            }
            // The first bytes received answer the first call that wants a reply.
            let answer = try await connection.ask(getInfo)
            #expect(answer.parameters?.product == "cached")
            // A oneway fetch downloads without a waiter.
            try await daemon.waitForState(.cached, of: origin.url("/a.png"))
            #expect(origin.requests("/a.png").count == 1)
        }
    }

    /// Detached downloads have no caller that could end them, so their number is limited.
    @Test func moreDetachedFetchesThanTheLimitAreRefused() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            // This download takes many minutes and blocks all others.
            origin.route("/0-0.png", .answer(body: SampleImage.png(byteCount: 1 << 20)))
            let daemon = try await DaemonFixture.start(
                ["--max-transfers", "1", "--max-rate", "1KiB"], in: scope)
            let connection = try daemon.connect()
            for (round, limit) in [nil, 200_000].enumerated() {
                let urls = (0...100_000).map { origin.url("/\(round)-\($0).png") }
                let answer = try await connection.ask(
                    call("Fetch", urls, parameters: #""wait":false"#))
                #expect(answer.error == limit.map { _ in "io.cached.Cache.TooMany" })
                #expect(answer.parameters?.limit == limit)
            }
            #expect(try await daemon.status(origin.url("/0-100000.png")).state == .inFlight)
            #expect(try await daemon.status(origin.url("/1-0.png")).state == .missing)
        }
    }

    @Test func moreIsAnsweredOnceByMethodsThatDoNotStream() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let connection = try daemon.connect()
            for method in ["Status", "List", "Stats", "org.varlink.service.GetInfo"] {
                let urls = method == "Status" ? ["http://a.example/"] : nil
                let text = try await connection.call(call(method, urls, flags: [#""more":true"#]))
                #expect(try AnyReply(text).error == nil, "\(method)")
                #expect(!text.contains("continues"), "\(method)")
                #expect(try await connection.ask(getInfo).parameters?.product == "cached")
            }
        }
    }

    private static let statusCalls = [
        #"{"method":"io.cached.Cache.Status","parameters":{"urls":["http://a.example/"]}}"#,
        #"{"method":"io.cached.Cache.Status","parameters":{"urls":["http://a.example/"],"details":null}}"#,
        #"{"method":"io.cached.Cache.Status","parameters":{"urls":["http://a.example/"],"details":false},"more":false,"oneway":false}"#,
        #"{"parameters":{"details":null,"urls":["http://a.example/"]},"more":null,"oneway":null,"method":"io.cached.Cache.Status"}"#,
        #" { "method" : "io.cached.Cache.Status" , "parameters" : { "urls" : [ "http:\/\/a.example\u002f" ] } } "#,
    ]

    @Test func absentAndNullOptionalsMeanTheSame() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let connection = try daemon.connect()
            for message in Self.statusCalls {
                let text = try await connection.call(message)
                let item = try #require(try AnyReply(text).items.first)
                #expect(item.url == "http://a.example/", "\(message)")
                #expect(item.state == .missing, "\(message)")
                // Absent optionals are omitted from replies.
                #expect(!text.contains("null"), "\(message)")
                #expect(!text.contains("failure") && !text.contains("path"), "\(message)")
            }
        }
    }

    private static let listCalls = [
        #"{"method":"io.cached.Cache.List"}"#,
        #"{"method":"io.cached.Cache.List","parameters":{}}"#,
        #"{"method":"io.cached.Cache.List","parameters":{"order":null,"limit":null,"after":null}}"#,
        #"{"method":"io.cached.Cache.List","parameters":null}"#,
    ]

    @Test func parametersCanBeAbsentIfNoneIsRequired() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            for message in Self.listCalls {
                let answer = try await daemon.ask(message)
                #expect(answer.error == nil, "\(message)")
                #expect(answer.parameters?.items == [], "\(message)")
            }
        }
    }

    @Test func errorsNameTheProblemAndTheConnectionStaysOpen() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let connection = try daemon.connect()
            let service = "org.varlink.service"

            let method = try await connection.ask(call("Nonsense"))
            #expect(method.error == "\(service).MethodNotFound")
            #expect(method.parameters?.method == "io.cached.Cache.Nonsense")

            for name in ["io.other.Thing.Status", "Status", ".", "io.cached.Cache.Deeper.Status"] {
                let message = #"{"method":"\#(name)"}"#
                let interface = try await connection.ask(message)
                #expect(interface.error == "\(service).InterfaceNotFound", "\(name)")
                #expect(interface.parameters?.interface != nil)
            }
            let description = try await connection.ask(
                call("\(service).GetInterfaceDescription", parameters: #""interface":"io.other""#))
            #expect(description.error == "\(service).InterfaceNotFound")
            #expect(description.parameters?.interface == "io.other")

            let http = #""http://a.example/""#
            for (message, parameter) in [
                (call("Status", parameters: #""urls":"http://a.example/""#), "urls"),
                (call("Status", parameters: #""urls":[1]"#), "urls"),
                (call("Status", parameters: #""urls":null"#), "urls"),
                (call("Status"), "urls"),
                (#"{"method":"io.cached.Cache.Status"}"#, "urls"),
                (call("Status", parameters: #""urls":[\#(http)],"details":"yes""#), "details"),
                (call("Fetch", parameters: #""urls":[\#(http)],"wait":1"#), "wait"),
                (call("Fetch", parameters: #""urls":[\#(http)],"priority":"soon""#), "priority"),
                (call("Fetch", parameters: #""urls":[\#(http)],"sha256":"ab""#), "sha256"),
                (call("List", parameters: #""order":"colour""#), "order"),
                (call("List", parameters: #""limit":"ten""#), "limit"),
                (call("List", parameters: #""limit":-1"#), "limit"),
                (call("List", parameters: #""after":"x""#), "after"),
                (call("Remove", parameters: #""all":"yes""#), "all"),
                (call("Remove"), "urls"),
                (call("Evict", parameters: #""toBytes":1e30"#), "parameters"),
                (call("List", parameters: #""limit":99999999999999999999"#), "parameters"),
                (call("\(service).GetInterfaceDescription"), "interface"),
            ] {
                let answer = try await connection.ask(message)
                #expect(answer.error == "\(service).InvalidParameter", "\(message)")
                #expect(answer.parameters?.parameter == parameter, "\(message)")
            }
            #expect(try await connection.ask(getInfo).parameters?.product == "cached")
        }
    }

    private static let noCalls = [
        "hello", "", "[]", "17", "{", #"{"parameters":{}}"#, #"{"method":5}"#,
        #"{"method":null}"#, "\u{FEFF}{}",
    ]

    @Test func anInvalidMessageIsAnsweredAndClosesTheConnection() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            for message in Self.noCalls {
                let connection = try daemon.connect()
                let answer = try await connection.ask(message)
                #expect(answer.error == "io.cached.Cache.InvalidMessage", "\(message)")
                #expect(answer.parameters?.reason?.isEmpty == false, "\(message)")
                #expect(try await connection.receive() == nil, "\(message)")
            }
            #expect(try await daemon.ask(getInfo).parameters?.product == "cached")
        }
    }

    @Test func messagesThatAreNotUTF8AreAnsweredToo() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            for junk: [UInt8] in [[0xFF, 0xFE, 0x00], [0x7B, 0x22, 0xC3, 0x28, 0x22, 0x7D, 0x00]] {
                let connection = try daemon.connect()
                try await connection.send(junk)
                #expect(try await connection.nextReply().error == "io.cached.Cache.InvalidMessage")
                #expect(try await connection.receive() == nil)
            }
            let connection = try daemon.connect()
            let start = Array(
                #"{"method":"io.cached.Cache.Status","parameters":{"urls":["http://"#.utf8)
            try await connection.send(start + [0xFF] + Array(#""]}}"#.utf8) + [0])
            // A text that is not UTF-8 is not JSON (RFC 8259 §8.1).
            #expect(try await connection.nextReply().error == "io.cached.Cache.InvalidMessage")
            #expect(try await connection.receive() == nil)
            #expect(try await daemon.ask(getInfo).parameters?.product == "cached")
        }
    }

    @Test func anEndlessMessageIsRefusedAndCostsNoMemory() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let connection = try daemon.connect()
            let before = try daemon.process.residentBytes()
            let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
            var sent = 0
            // The daemon can close the connection before all 64 MiB are sent.
            while sent < 64, (try? await connection.send(piece)) != nil { sent += 1 }
            let answer = try await connection.nextReply()
            #expect(answer.error == "io.cached.Cache.MessageTooLarge")
            #expect(answer.parameters?.limit == 16 << 20)
            try await connection.waitForClose()
            let growth = try daemon.process.residentBytes() - before
            // A sanitizer keeps freed memory for a while.
            #expect(growth < (isSanitized ? 128 : 64) << 20)
            #expect(try await daemon.ask(getInfo).parameters?.product == "cached")
        }
    }

    @Test func aMessageOfAlmostSixteenMebibytesIsAccepted() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let connection = try daemon.connect()
            let filler = String(repeating: " ", count: (16 << 20) - getInfo.utf8.count - 1)
            #expect(try await connection.ask(getInfo + filler).parameters?.product == "cached")
        }
    }

    @Test func callsInOneWriteAreAnsweredInOrder() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let connection = try daemon.connect()
            // The first call is answered by another thread, the second inline.
            try await connection.send(
                call("Stats") + "\0" + call("Status", ["http://a.example/"]) + "\0" + getInfo + "\0"
            )
            #expect(try await connection.nextReply().parameters?.stats != nil)
            #expect(try await connection.nextReply().items.count == 1)
            #expect(try await connection.nextReply().parameters?.product == "cached")
        }
    }

    /// A reply of more than a megabyte is sent in parts while the client reads.
    @Test func aLongReplyIsSentOnce() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let question = call("Status", (0..<8000).map { "ftp://a/\($0)" })
            let connection = try daemon.connect()
            for _ in 0..<60 {
                let text = try await connection.call(question)
                #expect(text.utf8.count > 1 << 20)
                #expect(try await connection.ask(getInfo).parameters?.product == "cached")
            }
        }
    }

    @Test func aClientThatShutsDownItsSendingSideStillGetsReplies() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 900), after: 100, gate))
            let daemon = try await DaemonFixture.start(in: scope)
            let connection = try daemon.connect()
            try await connection.send(call("Fetch", [origin.url("/a.png")]) + "\0" + getInfo + "\0")
            connection.endSending()
            try await gate.reached()
            gate.open()
            #expect(try await connection.nextReply().items.first?.state == .cached)
            #expect(try await connection.nextReply().parameters?.product == "cached")
            #expect(try await connection.receive() == nil)
        }
    }

    @Test func aCallCanArriveByteByByte() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let connection = try daemon.connect()
            for byte in Array((call("Status", ["http://a.example/ü"]) + "\0").utf8) {
                try await connection.send([byte])
            }
            #expect(try await connection.nextReply().items.first?.url == "http://a.example/ü")
        }
    }

    @Test func anIncompleteMessageDoesNotDelayOthers() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let slow = try daemon.connect()
            let message = call("Status", ["http://a.example/"]) + "\0"
            try await slow.send(String(message.prefix(30)))
            for _ in 0..<3 {
                #expect(try await daemon.ask(getInfo).parameters?.product == "cached")
            }
            try await slow.send(String(message.dropFirst(30)))
            #expect(try await slow.nextReply().items.count == 1)
        }
    }

    /// The client shuts down its sending side at once, and the replies exceed the socket buffers.
    @Test func allPipelinedCallsAreAnsweredAfterAShutdown() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let status = call("Status", (0..<10).map { "http://a.example/\($0).png" }) + "\0"
            for count in [1, 20, 200, 2000] {
                let message = Array(String(repeating: status, count: count).utf8)
                let exchange = try await offPool {
                    try Exchange(with: daemon.socket, sending: [message])
                }
                #expect(exchange.messages.count == count)
            }
        }
    }

    /// When the daemon reads, everything has arrived: calls that fill its read buffer, then the end of the
    /// stream. The client never reads the replies.
    @Test func clientsGoneBeforeTheirCallsAreReadAreClosed() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            daemon.process.signal(SIGSTOP)
            scope.atEnd { daemon.process.signal(SIGCONT) }
            let message = Array(getInfo.utf8) + [0]
            for length in [256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072] {
                let calls = repeatElement(message, count: length / message.count).joined()
                let padding = [UInt8](repeating: 0x20, count: length % message.count)
                _ = try Exchange(
                    with: daemon.socket, sending: [padding + Array(calls)], .closesUnread)
            }
            daemon.process.signal(SIGCONT)
            // The connection that asks is one itself.
            let asking = try daemon.connect()
            try await waitUntil("all other connections to be closed") {
                let stats = try await asking.ask(call("Stats")).parameters?.stats
                return stats?["connections"] == .int(1)
            }
            #expect(try await daemon.ask(getInfo).parameters?.product == "cached")
        }
    }

    /// Calls that a client pipelines without reading: many small replies, large ones, errors.
    private static let floods = [
        (call("Status", ["http://a.example/a.png"]), 200_000),
        (call("Status", (0..<1000).map { "http://a.example/\($0).png" }), 400),
        (call("Status", (0..<100).map { "\($0)" }, parameters: #""details":true"#), 4000),
        (call("List"), 200_000), (call("Stats"), 200_000), (call("Unknown"), 200_000),
    ]

    @Test(arguments: floods)
    func aClientThatNeverReadsCostsNoMemoryAndDoesNotBlockOthers(
        _ message: String, _ count: Int
    ) async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let connection = try daemon.connect()
            let before = try daemon.process.residentBytes()
            let all = String(repeating: message + "\0", count: count)
            let sending = Task { try? await connection.send(all) }
            defer { connection.shutdown() }
            // Each of these calls makes the event loop process the other client's data too.
            var most = before
            for _ in 0..<200 {
                #expect(try await daemon.ask(getInfo).parameters?.product == "cached")
                most = max(most, try daemon.process.residentBytes())
            }
            #expect(isSanitized || most - before < 64 << 20)
            connection.shutdown()
            _ = await sending.value
        }
    }
}

import CacheWire
import Glibc
import TestSupport
import Testing

/// No download of one user keeps another user's downloads from starting.
@Suite(
    "Downloads of users", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: geteuid() == 0, "only root can become other users"))
struct UserDownloadsTests {
    /// Fetches an image and prints how many bytes of others arrived while it was fetched.
    private static let bytesBeside = """
        s = connect()
        def received():
            s.sendall(message("Stats"))
            return json.loads(reply(s)[:-1])["parameters"]["stats"]["bytesReceived"]
        before = received()
        s.sendall(message("Fetch", urls=sys.argv[2:]))
        assert b'"state":"cached"' in reply(s)
        say(received() - before)
        """

    /// Every byte of such an image is looked at, and they arrive faster than that. Another user's image waits for less
    /// than one of them.
    @Test func largeImagesOfOneUserDoNotDelayAnothersDownload() async throws {
        try await withTestScope { scope in
            let origins = try (0..<2).map { _ in try ScriptedOrigin(in: scope) }
            let gif =
                Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0]
                + [UInt8](repeating: 0, count: 20_000_000)
            for origin in origins { origin.route("/large.gif", .answer(body: gif)) }
            let quiet = try ScriptedOrigin(in: scope)
            quiet.route("/a.png", .answer(body: SampleImage.png(byteCount: 9000)))
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let script = """
                s = connect()
                s.sendall(message("Fetch", urls=[u + "?%d" % i for i in range(4) for u in sys.argv[2:]]))
                say("sent"); reply(s); say("over")
                """
            let greedy = try TestUser.greedy.start(
                script, daemon.socket, origins.map { $0.url("/large.gif") }, in: scope)
            try await greedy.waitForLine(containing: "sent", on: .standardOutput)
            try await waitUntil("the large images to arrive") {
                try await daemon.metric("bytesReceived") > 1_000_000
            }
            var number = 0
            while !greedy.text(.standardOutput).contains("over") {
                let bytes = try await TestUser.other.number(
                    Self.bytesBeside, daemon.socket, [quiet.url("/a.png?\(number)")])
                #expect(bytes < 20_000_000, "\(bytes) bytes of large images came first")
                number += 1
            }
            #expect(number > 1)
        }
    }

    /// As in browsers, an origin is scheme, host and port, however they are spelled. Names of one server have limits of
    /// their own.
    @Test func anotherSpellingDoesNotLiftTheLimitOfAnOrigin() async throws {
        try await withTestScope { scope in
            let gate = try Gate()
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 9000), after: 100, gate))
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let hosts = ["localhost", "LOCALHOST", "Localhost", "LocalHost"]
            let urls = hosts.flatMap { host in
                (0..<4).map { origin.url("/a.png?\(host)\($0)", host: host) }
            }
            let client = try daemon.connect()
            try await client.send(call("Fetch", urls) + "\0")
            try await gate.reached(count: 6)
            try await waitUntil("all other downloads to wait for the origin") {
                let running = try await daemon.metric("transfersRunning")
                let queued = try await daemon.metric("transfersQueued")
                return running == 6 && queued == urls.count - 6
            }
            let other = try daemon.connect()
            let named = (0..<8).map { origin.url("/a.png?\($0)", host: "\($0).localhost") }
            try await other.send(call("Fetch", named) + "\0")
            try await gate.reached(count: 14)
            gate.open()
            #expect(try await client.nextReply().items.allSatisfy { $0.state == .cached })
            #expect(try await other.nextReply().items.allSatisfy { $0.state == .cached })
        }
    }
}

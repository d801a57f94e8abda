import CacheWire
import Glibc
import TestSupport
import Testing

/// Whatever one user downloads, another user's downloads begin.
@Suite(
    "Downloads of users", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: geteuid() == 0, "only root can become other users"))
struct UserDownloadsTests {
    /// 64 downloads that drip take every slot.
    @Test func drippingDownloadsOfOneUserLeaveAnotherASlot() async throws {
        try await withTestScope { scope in
            let drip = SampleImage.png(byteCount: 2_000_000)
            let image = SampleImage.png(byteCount: 9000)
            let origins = try (0..<12).map { _ in try ScriptedOrigin(in: scope) }
            for origin in origins {
                origin.route("/drip.png", .trickled(drip, bytesPerSecond: 1400))
                origin.route("/a.png", .answer(body: image))
            }
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            try await holdSlots(origins.map { $0.url("/drip.png") }, of: daemon, in: scope)
            // The host of the last one is full as well.
            let quiet = try ScriptedOrigin(in: scope)
            quiet.route("/a.png", .answer(body: image))
            for url in [quiet.url("/a.png?1"), quiet.url("/a.png?2"), origins[0].url("/a.png")] {
                let time = try await TestUser.other.measure(TestUser.fetch, daemon.socket, [url])
                #expect(time < .seconds(1), "\(url) took \(time)")
            }
        }
    }

    @Test func deadHostsOfOneUserCostAnotherNoMoreThanASecond() async throws {
        try await withTestScope { scope in
            let gate = try Gate()
            let origins = try (0..<12).map { _ in try ScriptedOrigin(in: scope) }
            for origin in origins { origin.route("/dead.png", [.wait(gate), .close]) }
            let image = SampleImage.png(byteCount: 9000)
            let quiet = try ScriptedOrigin(in: scope)
            quiet.route("/a.png", .answer(body: image))
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            try await holdSlots(origins.map { $0.url("/dead.png") }, of: daemon, in: scope)
            for number in 0..<3 {
                let time = try await TestUser.other.measure(
                    TestUser.fetch, daemon.socket, [quiet.url("/a.png?\(number)")])
                #expect(time < .seconds(1), "the image of another user took \(time)")
            }
            gate.open()
        }
    }

    /// Starts 2,000 `visible` downloads on 80 connections, and waits until they have all slots.
    private func holdSlots(
        _ urls: [String], of daemon: DaemonFixture, in scope: TestScope
    ) async throws {
        let script = """
            urls = [u + "?" + str(i) for i in range(2000 // len(sys.argv[2:])) for u in sys.argv[2:]]
            all = [connect() for _ in range(80)]
            for i, s in enumerate(all): s.sendall(message("Fetch", urls=urls[i::80], priority="visible"))
            say("sent"); time.sleep(600)
            """
        let greedy = try TestUser.greedy.start(script, daemon.socket, urls, in: scope)
        try await greedy.waitForLine(containing: "sent", on: .standardOutput)
        try await waitUntil("all slots to be taken") {
            try await daemon.metric("transfersRunning") == 64
        }
    }

    /// Every byte of such an image is looked at, and they arrive faster than that.
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
                let time = try await TestUser.other.measure(
                    TestUser.fetch, daemon.socket, [quiet.url("/a.png?\(number)")])
                #expect(time < .seconds(1), "the image of another user took \(time)")
                number += 1
            }
            #expect(number > 1)
        }
    }

    /// Spellings and names of one server share the limit of one host.
    @Test func anotherSpellingDoesNotLiftTheLimitOfAHost() async throws {
        try await withTestScope { scope in
            let gate = try Gate()
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 9000), after: 100, gate))
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let hosts = [
                "127.0.0.1", "localhost", "LOCALHOST", "0x7f.1", "2130706433", "a.localhost",
            ]
            let urls = hosts.flatMap { host in
                (0..<4).map { origin.url("/a.png?\(host)\($0)", host: host) }
            }
            let client = try daemon.connect()
            try await client.send(call("Fetch", urls) + "\0")
            try await gate.reached(count: 5)
            try await waitUntil("all other downloads to wait for the host") {
                let running = try await daemon.metric("transfersRunning")
                let queued = try await daemon.metric("transfersQueued")
                return running == 5 && queued == urls.count - 5
            }
            #expect(origin.requests().count == 5)
            gate.open()
            #expect(try await client.nextReply().items.allSatisfy { $0.state == .cached })
        }
    }
}

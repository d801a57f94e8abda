import CacheKey
import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// The output and the exit codes of `cachectl`.
@Suite("Command line", .serialized, .timeLimit(.minutes(5)))
struct CommandLineTests {
    /// Caches three images of different sizes, in the order of their names.
    private func threeImages(
        in scope: TestScope
    ) async throws -> (origin: ScriptedOrigin, daemon: DaemonFixture, urls: [String]) {
        let origin = try ScriptedOrigin(in: scope)
        for (name, size) in [("a", 2000), ("b", 3000), ("c", 1000)] {
            origin.route("/\(name).png", .answer(body: SampleImage.png(byteCount: size)))
        }
        let daemon = try await DaemonFixture.start(in: scope)
        let urls = ["a", "b", "c"].map { origin.url("/\($0).png") }
        for url in urls { #expect(try await daemon.fetch(url).state == .cached) }
        return (origin, daemon, urls)
    }

    @Test func statusExitCodeReflectsTheWorstItem() async throws {
        try await withTestScope { scope in
            let (origin, daemon, urls) = try await threeImages(in: scope)
            let gate = try Gate()
            origin.route("/slow.png", .gated(SampleImage.png(byteCount: 9000), after: 90, gate))
            let slow = origin.url("/slow.png")
            let started = try await daemon.cachectl("fetch", "--no-wait", slow)
            #expect(started.status == .success)
            try await gate.reached()
            let missing = origin.url("/missing.png")
            for (arguments, code) in [
                ([urls[0]], 0), ([urls[0], slow], 2), ([urls[0], slow, missing], 1),
                ([missing], 1), ([missing, "nonsense"], 65),
            ] as [([String], Int32)] {
                let output = try await daemon.cachectl(
                    "status", "-", input: Array(arguments.joined(separator: "\n").utf8))
                #expect(output.status == .exited(code), "\(arguments)")
                #expect(output.lines.count == arguments.count)
            }
            gate.open()
        }
    }

    @Test func aPingIsAnsweredAsLongAsThereIsADaemon() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let answer = try await daemon.cachectl("ping")
            #expect(answer.status == .success)
            #expect(answer.text.isEmpty && answer.errorText.isEmpty)
            try await daemon.stop()
            #expect(try await daemon.cachectl("ping").status == .exited(69))
        }
    }

    @Test func aFetchWithOneAttemptFailsAtTheFirstFailure() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(503))
            let daemon = try await DaemonFixture.start(in: scope)
            let output = try await run(
                daemon, ["fetch", "--attempts", "1", origin.url("/a.png")])
            #expect(output.status == .exited(1))
            #expect(output.errorText.contains("503"))
            #expect(origin.requests("/a.png").count == 1)
        }
    }

    @Test func aFetchWhoseTimeIsOverFailsAlone() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 9000)
            origin.route("/a.png", .gated(image, after: 90, gate))
            let daemon = try await DaemonFixture.start(in: scope)
            let patient = try daemon.connect()
            try await patient.send(call("Fetch", [origin.url("/a.png")]) + "\0")
            try await gate.reached()
            let hasty = try await run(
                daemon, ["fetch", "--timeout", "0.3", origin.url("/a.png")])
            #expect(hasty.status == .exited(1))
            #expect(hasty.errorText.contains("did not come within the time"))
            gate.open()
            #expect(try await patient.nextReply().items.map(\.state) == [.cached])
            #expect(origin.requests("/a.png").count == 1)
        }
    }

    @Test func jsonOutputIsOneItemPerLine() async throws {
        try await withTestScope { scope in
            let (origin, daemon, urls) = try await threeImages(in: scope)
            for arguments in [
                ["status", "--json"] + urls, ["fetch", "--json"] + urls, ["list", "--json"],
                ["info", "--json", urls[0]],
                ["status", "--json", origin.url("/missing.png"), "nonsense"],
            ] {
                let output = try await run(daemon, arguments)
                let items = try output.lines.map {
                    try JSONDecoder().decode(Item.self, from: Data($0.utf8))
                }
                #expect(!items.isEmpty, "\(arguments)")
                #expect(!output.text.contains("null"), "\(arguments)")
                let isCached = items.allSatisfy { $0.state == .cached }
                #expect(isCached != arguments.contains("nonsense"))
            }
            let details = try await run(daemon, ["status", "--json", urls[1]])
            let item = try JSONDecoder().decode(Item.self, from: Data(details.standardOutput))
            #expect(item.sha256 == (try await sha256(SampleImage.png(byteCount: 3000))))
            #expect(item.fetchedAt != nil && item.pinned == false)
        }
    }

    private func run(
        _ daemon: DaemonFixture, _ arguments: [String], input: String = ""
    ) async throws -> ProcessOutput {
        try await TestSupport.run(
            BuiltProducts.program("cachectl"), arguments,
            environment: minimalEnvironment(["CACHED_SOCKET": daemon.socket]),
            input: Array(input.utf8))
    }

    @Test func fetchPrintsThePathsInOrderAndFailuresOnStandardError() async throws {
        try await withTestScope { scope in
            let (origin, daemon, urls) = try await threeImages(in: scope)
            let missing = origin.url("/missing.png")
            let output = try await run(
                daemon, ["fetch", urls[2], missing, "-", urls[0]], input: "\(urls[1])\n\n")
            #expect(output.status == .exited(1))
            #expect(output.lines == (try [urls[2], urls[1], urls[0]].map { try daemon.path($0) }))
            #expect(output.errorText.contains(missing))
            #expect(output.errorText.contains("404"))
        }
    }

    @Test func listFollowsTheRequestedOrder() async throws {
        try await withTestScope { scope in
            let (_, daemon, urls) = try await threeImages(in: scope)
            // Fetching a cached image counts as use.
            #expect(try await daemon.fetch(urls[0]).state == .cached)
            for (order, expected) in [
                ("recency", [0, 2, 1]), ("size", [1, 0, 2]),
            ] {
                let output = try await daemon.cachectl("list", "--json", "--order", order)
                let listed = try output.lines.map {
                    try JSONDecoder().decode(Item.self, from: Data($0.utf8)).url
                }
                #expect(listed == expected.map { urls[$0] }, "\(order)")
            }
            let limited = try await daemon.cachectl("list", "--json", "--limit", "2")
            #expect(limited.lines.count == 2)
            let table = try await daemon.cachectl("list")
            #expect(table.status == .success)
            for url in urls { #expect(table.text.contains(url)) }
            #expect(try await daemon.cachectl("list", "--order", "colour").status == .exited(64))
        }
    }

    @Test func listByAgeBeginsWithTheOldest() async throws {
        try await withTestScope { scope in
            let (_, daemon, urls) = try await threeImages(in: scope)
            for (url, time) in zip(urls, [2000, 1000, 3000]) {
                let path = try daemon.path(url)
                let bytes = try #require(size(at: path))
                try ExtendedAttributes(of: path).set(
                    try recordName(url), DiskRecord.bytes(size: bytes, fetched: time))
            }
            let output = try await daemon.cachectl("list", "--json", "--order", "age")
            let listed = try output.lines.map {
                try JSONDecoder().decode(Item.self, from: Data($0.utf8))
            }
            #expect(listed.map(\.url) == [urls[1], urls[0], urls[2]])
            #expect(listed.map(\.fetchedAt) == [1000, 2000, 3000])
        }
    }

    @Test func removeAcceptsURLsAPrefixOrAll() async throws {
        try await withTestScope { scope in
            let (origin, daemon, urls) = try await threeImages(in: scope)
            // The bytes reported as freed are those reported as used before.
            let used = try await daemon.metric("bytesUsed")
            #expect(used >= 6000)
            let one = try await daemon.cachectl("remove", urls[0])
            let rest = try await daemon.metric("bytesUsed")
            #expect(one.status == .success)
            #expect(one.text == "removed 1 entry, \(used - rest) bytes\n")
            #expect(size(at: try daemon.path(urls[0])) == nil)
            #expect(try await daemon.cachectl("status", urls[0]).status == .exited(1))

            let none = try await daemon.cachectl("remove", "--prefix", origin.url("/x"))
            #expect(none.text == "removed 0 entries, 0 bytes\n")
            let prefix = try await daemon.cachectl(
                "remove", "--json", "--prefix", origin.url("/b"))
            let removal = try JSONDecoder().decode(
                Methods.Remove.Reply.self, from: Data(prefix.standardOutput))
            let last = try await daemon.metric("bytesUsed")
            #expect(removal == .init(entries: 1, bytes: rest - last))
            #expect(try await daemon.cachectl("status", urls[2]).status == .success)
            let all = try await daemon.cachectl("remove", "--all")
            #expect(all.text == "removed 1 entry, \(last) bytes\n")
            #expect(try daemon.names(excluding: []).isEmpty)
            for wrong in [["remove"], ["remove", "--all", urls[0]], ["remove", "--prefix", ""]] {
                #expect(try await run(daemon, wrong).status == .exited(64))
            }
        }
    }

    @Test func aPrefixIsComparedByteByByte() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/e%CC%81.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            // An e and a combining accent: one character to a reader, three bytes to the cache.
            let url = origin.url("/e\u{301}.png")
            #expect(try await daemon.fetch(url).state == .cached)
            #expect(try await daemon.status(origin.url("/\u{E9}.png")).state == .missing)
            let composed = try await daemon.cachectl("remove", "--prefix", origin.url("/\u{E9}"))
            #expect(composed.text == "removed 0 entries, 0 bytes\n")
            let bytes = try await daemon.cachectl("remove", "--prefix", origin.url("/e"))
            #expect(bytes.text.hasPrefix("removed 1 entry"))
        }
    }

    @Test func removingAnImageInFlightCancelsItsDownload() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 9000), after: 4000, gate))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let caller = try daemon.connect()
            try await caller.send(call("Fetch", [url]) + "\0")
            try await gate.reached()
            #expect(try await daemon.cachectl("remove", url).status == .success)
            let item = try #require(try await caller.nextReply().items.first)
            #expect(item.state == .missing)
            #expect(item.failure?.kind == "removed")
            try await origin.waitForOutcome(.abandoned, of: "/a.png")
            try await waitUntil("the partial to be removed") {
                _ = try await daemon.ask(call("Stats"))
                return try daemon.names(excluding: []).isEmpty
            }
        }
    }

    @Test func infoPrintsAllKnownDetails() async throws {
        try await withTestScope { scope in
            let (origin, daemon, urls) = try await threeImages(in: scope)
            let info = try await daemon.cachectl("info", urls[0])
            #expect(info.status == .success)
            let digest = try await sha256(SampleImage.png(byteCount: 2000))
            for text in [urls[0], try daemon.path(urls[0]), "image/png", "2000", digest, "8"] {
                #expect(info.text.contains(text), "\(text)")
            }
            let failed = origin.url("/missing.png")
            _ = try await daemon.fetch(failed)
            let why = try await daemon.cachectl("info", failed)
            #expect(why.status == .exited(1))
            #expect(why.text.contains("404"))
        }
    }

    @Test func statsIsOneFlatObject() async throws {
        try await withTestScope { scope in
            let (_, daemon, _) = try await threeImages(in: scope)
            let output = try await daemon.cachectl("stats", "--json")
            #expect(output.status == .success)
            let stats = try JSONDecoder().decode(
                [String: JSONValue].self, from: Data(output.standardOutput))
            #expect(stats["entries"] == 3)
            #expect(stats["published"] == 3)
            #expect(stats["bytesReceived"] == 6000)
            #expect(stats["directory"] == .string(daemon.directory))
            let report = try await daemon.cachectl("stats")
            #expect(report.lines[0].contains("of 3 requests"))
            #expect(report.lines[1].contains("3 images"))
            #expect(report.lines[2].contains("3 done, 0 failed"))
        }
    }

    @Test func withoutADaemonEveryCommandExitsWith69() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            for command in [
                ["status", "http://a.example/"], ["fetch", "http://a.example/"], ["list"],
                ["info", "http://a.example/"], ["remove", "--all"], ["stats"],
                ["status", "--json", "http://a.example/"], ["pin", "http://a.example/"],
                ["unpin", "http://a.example/"], ["evict", "--to", "0"], ["pressure", "warning"],
            ] {
                let output = try await TestSupport.run(
                    BuiltProducts.program("cachectl"), command,
                    environment: minimalEnvironment(["CACHED_SOCKET": home.file("s")]))
                #expect(output.status == .exited(69), "\(command)")
                #expect(output.text.isEmpty)
                #expect(output.errorText.contains(home.file("s")))
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become a user without permission to connect"))
    func connectingWithoutPermissionExitsWith77() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let home = try TemporaryDirectory(in: scope)
            // Only the socket's own permissions keep the other user out, not those of its directory.
            for path in [home.path, String(daemon.socket.dropLast(2))] { chmod(path, 0o755) }
            let program = home.file("cachectl")
            try await runSuccessfully("cp", [try BuiltProducts.program("cachectl"), program])
            let output = try await TestSupport.run(
                "setpriv",
                [
                    "--reuid", "65534", "--regid", "65534", "--clear-groups", "--",
                    program, "status", "--socket", daemon.socket, "http://a.example/",
                ])
            #expect(output.status == .exited(77), "\(output.errorText)")
            #expect(output.text.isEmpty)
            #expect(output.errorText.contains(daemon.socket))
        }
    }

    @Test func wrongUsageExitsWith64() async throws {
        for wrong in [
            ["nonsense"], ["status"], ["fetch"], ["info"], ["status", "--nonsense", "http://a/"],
            ["fetch", "--sha256", "12", "http://a/"], ["fetch", "--priority", "soon", "http://a/"],
            ["list", "--limit", "-1"], ["pin"], ["evict"], ["evict", "--to", "much"], ["pressure"],
        ] {
            let output = try await TestSupport.run(BuiltProducts.program("cachectl"), wrong)
            #expect(output.status == .exited(64), "\(wrong)")
            #expect(output.text.isEmpty && !output.errorText.isEmpty, "\(wrong)")
        }
    }

    @Test func progressIsDrawnOnATerminalAndErasedAfterwards() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 100_000)
            origin.route("/known.png", .gated(image, after: 42_000, gate))
            origin.route(
                "/unknown.png",
                [
                    .head(200, ["Connection": "close"]), .bytes(Array(image[..<42_000])),
                    .wait(gate), .bytes(Array(image[42_000...])), .close,
                ])
            let urls = [origin.url("/known.png"), origin.url("/unknown.png")]
            let daemon = try await DaemonFixture.start(in: scope)
            let fetch = try daemon.startCachectl(
                "fetch", urls[0], urls[1], standardError: .terminal(columns: 100))
            try await gate.reached(count: 2)
            try await fetch.waitForLine(containing: "42 %")
            let drawn = try await eventually("both to be drawn") {
                let screen = Screen(showing: fetch.text(.standardError))
                _ = try await daemon.ask(call("Stats"))
                // The summary line names the most recent download too.
                let lines = screen.lines.dropFirst().map { String($0) }
                let isWhole = ["/known.png", "/unknown.png"].allSatisfy { name in
                    lines.contains { $0.contains(name) }
                }
                return isWhole ? lines : nil
            }
            let known = try #require(drawn.first { $0.contains("/known.png") })
            #expect(known.contains("42 %"))
            let unknown = try #require(drawn.first { $0.contains("/unknown.png") })
            #expect(!unknown.contains("%"))
            #expect(drawn.allSatisfy { $0.count < 100 })

            gate.open()
            #expect(try await fetch.waitForExit() == .success)
            #expect(
                fetch.text(.standardOutput)
                    == (try urls.map { try daemon.path($0) + "\n" }.joined()))
            let screen = Screen(showing: fetch.text(.standardError))
            #expect(screen.isClean)
            #expect(screen.unknown.isEmpty)
        }
    }

    @Test func anInterruptErasesTheProgressToo() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 9000), after: 4500, gate))
            let daemon = try await DaemonFixture.start(in: scope)
            let fetch = try daemon.startCachectl(
                "fetch", origin.url("/a.png"), standardError: .terminal(columns: 60))
            try await fetch.waitForLine(containing: "50 %")
            fetch.signal(SIGINT)
            #expect(try await fetch.waitForExit() == .exited(130))
            let lines = Screen(showing: fetch.text(.standardError)).lines
                .map { String($0).trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            let text = lines.joined(separator: " ")
            #expect(text.hasPrefix("cachectl: interrupted: 0 of 1 image is cached"))
            #expect(!text.contains("50 %") && !text.contains("/a.png"))
        }
    }

    @Test func noProgressIsDrawnForCachedImages() async throws {
        try await withTestScope { scope in
            let (_, daemon, urls) = try await threeImages(in: scope)
            let output = try await daemon.cachectl(
                "fetch", urls[0], standardError: .terminal(columns: 80))
            #expect(output.status == .success)
            #expect(Screen(showing: output.errorText).isClean)
        }
    }

    @Test func noProgressIsDrawnWithoutATerminal() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 90_000)))
            let daemon = try await DaemonFixture.start(in: scope)
            let output = try await daemon.cachectl("fetch", origin.url("/a.png"))
            #expect(output.status == .success)
            #expect(output.standardError.isEmpty)
        }
    }
}

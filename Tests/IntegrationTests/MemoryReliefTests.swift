import CacheWire
import TestSupport
import Testing

/// The memory that a pressure reaction frees, measured at the kernel, at origins and in time.
@Suite("Memory relief", .serialized, .timeLimit(.minutes(5)))
struct MemoryReliefTests {
    private static let obstacle = StallGroup.obstacle ?? SmallFileSystem.obstacle

    @Test(
        .enabled(if: obstacle == nil, "\(obstacle ?? "")"),
        .disabled(if: isSanitized, "a sanitizer needs more memory than the group has"))
    func aRealStallUnlinksWithin2500msAndFreesTheReportedMemory() async throws {
        try await withTestScope { scope in
            let group = try StallGroup(in: scope)
            let disk = try await SmallFileSystem(bytes: 32 << 20, in: scope)
            var options = DaemonFixture.Options()
            options.directory = "\(disk.path)/cache"
            // What is a minute old at most goes too.
            options.arguments = [
                "--max-bytes", "30MiB", "--min-free", "0", "--pressure-evicts", "always",
            ]
            options.environment = ["MEMORY_PRESSURE_WATCH": group.pressure.path]
            let cache = try await FilledCache(40, of: 200_000, options, in: scope) { daemon in
                try group.charge(daemon.process)
            }
            let charged = try group.chargedFiles()
            let held = try await cache.daemon.metric("bytesUsed")
            #expect(abs(charged - held) <= 40 * 2 * 4096)

            let events = try FileEvents(.removals, in: cache.daemon.directory, scope)
            try await group.stall()
            let watch = Stopwatch()
            _ = try await events.next()
            #expect(watch.time < .milliseconds(2500))
            try await waitUntil("the reaction") {
                try await cache.daemon.metric("pressureReactions") == 1
            }
            try group.end()

            let entries = try await cache.daemon.metric("pressureLastEntries")
            let bytes = try await cache.daemon.metric("pressureLastBytes")
            #expect(entries >= 10 && bytes >= held / 4)
            #expect(try cache.held() == Array(entries..<40))
            // The kernel updates its statistics some time later.
            _ = try await eventually("the charged memory to fall by \(bytes)") {
                _ = try await cache.daemon.metric("entries")
                let fallen = charged - (try group.chargedFiles())
                return abs(fallen - bytes) <= entries * 4096 ? fallen : nil
            }
            // On tmpfs pages are freed only by unlinking.
            #expect(try await cache.daemon.metric("pressureLastDroppedEntries") == 0)
        }
    }

    /// Critical pressure closes idle connections. Here it occurs again and again, so that downloads start at
    /// just that moment.
    @Test func downloadsSucceedWhileIdleConnectionsAreClosed() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            let pressing = try daemon.connect()
            let pressure = call("Pressure", parameters: #""level":"critical""#)
            async let pressed: Void = {
                for _ in 0..<300 { _ = try await pressing.ask(pressure) }
            }()
            let fetching = try daemon.connect()
            for number in 0..<150 {
                let fetch = call("Fetch", [origin.url("/a.png?\(number)")])
                let items = try await fetching.ask(fetch).items
                // Each time half of the images are evicted, which can include this one.
                #expect(
                    items.first.map { $0.state == .cached || $0.failure?.kind == "removed" } == true
                )
            }
            try await pressed
        }
    }

    @Test func onDiskPagesAreDroppedBeforeImagesAndCountedSeparately() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(40, of: 40_000, in: scope)
            let daemon = cache.daemon
            try await cache.makeOld()
            #expect(try await daemon.cachectl("pressure", "warning").status == .success)
            #expect(try cache.held() == Array(10..<40))
            // A quarter is evicted; half of the rest is cold.
            let dropped = try await daemon.metric("pressureLastDroppedEntries")
            #expect((24...26).contains(dropped))
            #expect(try await daemon.metric("pressureLastDroppedBytes") == dropped * 40_000)
            #expect(try await daemon.metric("pagesDroppedEntries") == dropped)
            #expect(try await daemon.metric("pagesDroppedBytes") == dropped * 40_000)
            #expect(try await daemon.metric("pressureLastEntries") == 10)
            // Dropping pages does not count as use.
            try await cache.evict(to: 29)
            #expect(try cache.held() == Array(11..<40))
            for number in 11..<24 { #expect(try await cache.residentBytes(number) == 0) }
            for number in 27..<40 { #expect(try await cache.residentBytes(number) > 0) }
            #expect(
                try contents(of: try cache.path(11))
                    == SampleImage.png(byteCount: 40_000, seed: 11))
        }
    }

    @Test func criticalPressureHalvesConcurrentDownloads() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let gates = [try Gate(), try Gate()]
            let origins = try (0..<14).map { _ in try ScriptedOrigin(in: scope) }
            let image = SampleImage.png(byteCount: 900)
            var urls: [[String]] = [[], []]
            for origin in origins {
                for (round, gate) in gates.enumerated() {
                    for number in 0..<10 {
                        let path = "/\(round)-\(number).png"
                        origin.route(path, .gated(image, after: 50, gate))
                        urls[round].append(origin.url(path))
                    }
                }
            }
            // One client gets all slots, and half of them after a shortage of memory.
            for (round, expected) in [64, 32].enumerated() {
                let connection = try daemon.connect()
                try await connection.send(
                    call("Fetch", urls[round], parameters: #""priority":"visible""#) + "\0")
                try await gates[round].reached(count: expected)
                // All permitted downloads run.
                #expect(try await daemon.metric("transfersRunning") == expected)
                #expect(try await daemon.metric("transfersQueued") == 140 - expected)
                #expect(origins.underWay == expected)
                gates[round].open()
                let items = try await connection.nextReply().items
                #expect(items.allSatisfy { $0.state == .cached })
                if round == 0 { try await daemon.cachectl("pressure", "critical") }
            }
        }
    }

    @Test(arguments: ["warning", "critical"])
    func onlyCriticalPressureClosesIdleConnections(level: String) async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(3, in: scope)
            try await cache.origin.waitForConnections(open: 1)
            try await cache.daemon.cachectl("pressure", level)
            cache.origin.route("/new.png", .answer(body: SampleImage.png(byteCount: 900)))
            if level == "critical" { try await cache.origin.waitForConnections(open: 0) }
            #expect(try await cache.daemon.fetch(cache.origin.url("/new.png")).state == .cached)
            #expect(cache.origin.connectionsAccepted == (level == "critical" ? 2 : 1))
        }
    }
}

extension FilledCache {
    /// Bytes of an image that are in memory now. fincore(1)
    fileprivate func residentBytes(_ number: Int) async throws -> Int {
        let text = try await runSuccessfully(
            "fincore", ["--bytes", "--noheadings", "--output", "RES", try path(number)])
        return try #require(Int(text.filter(\.isNumber)))
    }
}

extension [ScriptedOrigin] {
    /// The number of requests being answered.
    fileprivate var underWay: Int {
        reduce(0) { $0 + $1.requests().count { $0.outcome == .answering } }
    }
}

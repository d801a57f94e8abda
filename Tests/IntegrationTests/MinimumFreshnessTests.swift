import CacheWire
import TestSupport
import Testing

/// The user's own rule about freshness, before that of the origin.
@Suite("Minimum freshness", .timeLimit(.minutes(5)))
struct MinimumFreshnessTests {
    @Test func anOwnRuleKeepsImagesFreshAndInfoSaysSo() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let controls = ["no-cache": 1, "max-age=0": 1, "max-age=9000000": 1, "no-store": 2]
            for control in controls.keys {
                origin.route(
                    "/\(control)",
                    .answer(headers: ["Cache-Control": control], body: SampleImage.png()))
            }
            let daemon = try await DaemonFixture.start(
                environment: ["CACHED_MIN_FRESHNESS": "127.*.0.1:7d"], in: scope)
            for (control, requests) in controls {
                let url = origin.url("/\(control)")
                for _ in 0..<2 { #expect(try await daemon.fetch(url).state == .cached) }
                #expect(origin.requests("/\(control)").count == requests, "\(control)")
            }
            let item = try await daemon.status(origin.url("/no-cache"), details: true)
            let fetched = try #require(item.fetchedAt)
            #expect(item.freshUntil == fetched + 7 * 86_400 && item.freshByRule == true)
            let own = try await daemon.status(origin.url("/max-age=9000000"), details: true)
            #expect(own.freshByRule == nil)
            for name in [origin.url("/no-cache"), try daemon.path(origin.url("/no-cache"))] {
                let info = try await daemon.cachectl("info", name)
                #expect(info.text.contains("CACHED_MIN_FRESHNESS"))
            }
        }
    }

    @Test(arguments: ["*:7d", "a.test", "a.test:7w", "a.test/x:1d", "a.test:1d *.*:1d"])
    func aWrongRuleIsAnError(rule: String) async throws {
        let output = try await run(
            BuiltProducts.program("cached"), ["--check-config", "--min-freshness", rule],
            environment: minimalEnvironment(["HOME": "/nonexistent"]))
        #expect(output.status == .exited(78))
        #expect(output.errorText.contains("*.example.net:7d"))
    }
}

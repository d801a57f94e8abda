import CacheWire
import TestSupport
import Testing

/// Images that nobody used for a time, and the filter that chooses them.
@Suite("Unused images", .timeLimit(.minutes(5)))
struct UnusedTests {
    /// Five images. Nobody has used numbers 1, 2 and 3 for 60 days; number 3 is pinned.
    private func aged(_ arguments: [String] = [], in scope: TestScope) async throws -> FilledCache {
        var options = DaemonFixture.Options()
        options.arguments = arguments
        let cache = try await FilledCache(5, options, in: scope)
        #expect(try await cache.daemon.cachectl("pin", cache.urls[3]).status == .success)
        try await cache.daemon.stop()
        let paths = try (1...3).map { try cache.path($0) }
        try await runSuccessfully("touch", ["-a", "--date", "60 days ago"] + paths)
        return try await cache.restarted()
    }

    @Test func aListIsTheRehearsalOfAnEviction() async throws {
        try await withTestScope { scope in
            let cache = try await aged(in: scope)
            let list = try await cache.daemon.cachectl("list", "--unused", "30d", "--json")
            #expect(list.lines.count == 3)
            let evict = try await cache.daemon.cachectl("evict", "--unused", "30d")
            #expect(evict.status == .success && evict.text.contains("2 entries"))
            #expect(try cache.held() == [0, 3, 4])
            let reply = try await cache.daemon.ask(
                call("History", parameters: #""kinds":["evicted"]"#))
            #expect(reply.parameters?.events?.map(\.reason) == [.requested, .requested])
            try await cache.daemon.expectLedgerMatchesDisk()
        }
    }

    @Test func everyOptionOfTheFilterHasToFit() async throws {
        try await withTestScope { scope in
            let cache = try await aged(in: scope)
            let daemon = cache.daemon
            for (option, other) in [("host", "a.test"), ("type", "image/gif"), ("state", "stale")] {
                let output = try await daemon.cachectl(
                    "remove", "--unused", "30d", "--\(option)", other)
                #expect(output.status == .success, "\(output.errorText)")
                #expect(try cache.held() == [0, 1, 2, 3, 4], "\(option)")
            }
            let output = try await daemon.cachectl(
                "remove", "--unused", "30d", "--host", "127.0.0.1", "--prefix", cache.urls[1],
                "--type", "image/png", "--state", "fresh")
            #expect(output.status == .success)
            #expect(try cache.held() == [0, 2, 3, 4])
            let wrong = try await daemon.cachectl("remove", "--state", "pinned")
            #expect(wrong.errorText.contains("cached, fresh or stale"))
            let both = try await daemon.cachectl("evict", "--to", "1", "--unused", "1d")
            #expect(both.status == .exited(64))
        }
    }

    @Test func theUpkeepEvictsWhatNobodyUsed() async throws {
        try await withTestScope { scope in
            let cache = try await aged(["--max-unused", "30d"], in: scope)
            try await waitUntil("the unused images to go") { try cache.held() == [0, 3, 4] }
            try await waitUntil("the reasons") {
                try await cache.daemon.ask(call("History", parameters: #""kinds":["evicted"]"#))
                    .parameters?
                    .events?.map(\.reason) == [.unused, .unused]
            }
        }
    }
}

import Foundation
import TestSupport
import Testing

/// What `top` shows of the time before its start and of what comes after it, and of images that are gone.
extension TopTests {
    private static let blocks = Set("▂▃▄▅▆▇█")

    @Test func thePlotsAreFullAtOpening() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 200, lines: 24, in: scope)
            let now = Int(Date().timeIntervalSince1970)
            let samples = (0...120).map { minute in
                // Three counters of nine figures grow, each faster and faster.
                let (time, count) = (now - 60 * (120 - minute), 1000 * minute * minute)
                return "sample\t\(time)\t0\t0\t\(count)\t\(count)\t0\t0\t0\t0\t\(count)\n"
            }
            try Data(("cached history 1\n" + samples.joined()).utf8)
                .write(to: URL(filePath: fixture.daemon.directory + "/.history"))
            try await fixture.start()
            try await fixture.terminal.press("Tab")
            // Of 50 columns for each plot, those of the seconds since the start are empty.
            try await fixture.terminal.waitForScreen("three full plots") { screen in
                screen.contains { line in
                    line.hasPrefix("hits ") && line.count { Self.blocks.contains($0) } >= 3 * 30
                }
            }
            // What came in minutes is no rate of now.
            let line = try await fixture.terminal.waitFor("hits ").first { $0.hasPrefix("hits ") }
            #expect(
                line?.contains(" 0/s ") == true && line?.contains(" 0 B/s") == true, "\(line ?? "")"
            )
            try await fixture.terminal.press("q")
            #expect(try await fixture.end().isRestored)
        }
    }

    @Test func theRingOfARetryEmptiesUntilTheNextAttempt() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 100, lines: 24, attempts: 2, in: scope)
            fixture.origin.route("/busy.png", .answer(503, headers: ["Retry-After": "24"]))
            try await fixture.start()
            try await fixture.daemon.cachectl(
                "fetch", "--no-wait", fixture.origin.url("/busy.png"))
            // Thirds of the time that is left when it is seen first.
            for sign in ["◍", "◐"] {
                let screen = try await fixture.terminal.waitForScreen("the ring \(sign)") {
                    screen in
                    screen.contains { $0.hasPrefix("\(sign) the server answered with status 503") }
                }
                #expect(screen.contains { $0.contains("retry in ") })
            }
            try await fixture.terminal.press("q")
            #expect(try await fixture.end().isRestored)
        }
    }

    @Test func detailsSayWhyAnImageHasGone() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 100, lines: 24, in: scope)
            try await fixture.queue(2)
            try await waitUntil("all to be cached") {
                try await fixture.daemon.metric("entries") == 2
            }
            try await fixture.start()
            try await fixture.terminal.press("Tab")
            try await fixture.terminal.waitFor("2.0 kB")
            try await fixture.terminal.press("Enter")
            let details = try await fixture.terminal.waitForScreen("the details") { screen in
                screen.contains { $0.contains("sha256") }
            }
            let url = try #require(details.first { $0.hasPrefix("http") })
            try await fixture.daemon.cachectl("remove", url)
            try await fixture.terminal.waitFor("× Removed by ")
            try await fixture.terminal.press("Escape", "Enter")
            try await fixture.terminal.waitFor("sha256")
            try await fixture.daemon.cachectl("evict", "--to", "0")
            try await fixture.terminal.waitFor("× Evicted: a user asked for room")
            try await fixture.terminal.press("q")
            #expect(try await fixture.end().isRestored)
        }
    }
}

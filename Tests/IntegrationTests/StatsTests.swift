import CacheWire
import Foundation
import TestSupport
import Testing

/// The figures of `Stats` against what happened, and against their page.
@Suite("Stats", .timeLimit(.minutes(5)))
struct StatsTests {
    @Test func theHistogramsCountEachDownloadedImageOnce() async throws {
        try await withTestScope { scope in
            let began = ContinuousClock.now
            let daemon = try await DaemonFixture.start(["--attempts", "1"], in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let images = [600, 5000, 200_000].map { SampleImage.png(byteCount: $0) }
            for (number, image) in images.enumerated() {
                origin.route("/\(number).png", .answer(body: image))
            }
            origin.route("/none.png", .answer(404))
            origin.route("/page.png", .answer(body: Array("<html>".utf8)))
            let paths = images.indices.map { "/\($0).png" } + ["/none.png", "/page.png"]
            _ = try await daemon.ask(call("Fetch", paths.map { origin.url($0) }))
            // A hit is no download.
            #expect(try await daemon.fetch(origin.url("/0.png")).state == .cached)
            let elapsed = began.duration(to: .now) / .seconds(1)

            let reply = try await daemon.statsReply()
            let histograms = try #require(reply.histograms)
            #expect(
                histograms.keys.sorted()
                    == ["downloadSeconds", "firstByteSeconds", "imageBytes", "publishSeconds"])
            for (name, histogram) in histograms {
                #expect(histogram.counts.reduce(0, +) == images.count, "\(name)")
                #expect(histogram.counts.count == histogram.bounds.count + 1, "\(name)")
                #expect(histogram.bounds == histogram.bounds.sorted(), "\(name)")
                let limit = name.hasSuffix("Seconds") ? elapsed * Double(images.count) : .infinity
                #expect(histogram.sum > 0 && histogram.sum <= limit, "\(name)")
            }
            let sizes = try #require(histograms["imageBytes"])
            #expect(sizes.sum == Double(images.reduce(0) { $0 + $1.count }))
            // Up to 1 KiB, up to 16 KiB and up to 256 KiB.
            #expect(sizes.counts == [1, 0, 1, 0, 1, 0, 0, 0, 0, 0])
            #expect(reply.failures == ["http": 1, "notAnImage": 1])
            #expect(reply.stats["failed"] == 2)
        }
    }

    @Test func theFiguresOfTheProcessAreTrue() async throws {
        try await withTestScope { scope in
            let before = Int(Date.now.timeIntervalSince1970)
            let daemon = try await DaemonFixture.start(in: scope)
            let connection = try daemon.connect()
            let message = call("Stats")
            let stats = try #require(try await connection.ask(message).parameters?.stats)
            let again = try #require(try await connection.ask(message).parameters?.stats)
            guard case .int(let calls) = stats["calls"], case .int(let more) = again["calls"],
                case .int(let start) = stats["startedAt"],
                case .int(let resident) = stats["residentBytes"],
                case .int(let anonymous) = stats["anonymousBytes"],
                case .double(let seconds) = stats["processorSeconds"]
            else { throw TestFailure("Stats lacks a figure of the process: \(stats)") }
            #expect(more == calls + 1)
            #expect(again["connections"] == 1)
            #expect((before...Int(Date.now.timeIntervalSince1970)).contains(start))
            #expect(anonymous > 0 && anonymous <= resident)
            #expect(seconds > 0)
        }
    }

    @Test func theDocumentationExplainsExactlyTheReportedFigures() async throws {
        try await withTestScope { scope in
            // Without a proxy and a store there is no figure of them.
            let daemon = try await DaemonFixture.start(
                [
                    "--proxy", "http://127.0.0.1:1", "--store", "s3://images",
                    "--store-endpoint", "http://127.0.0.1:1", "--store-credentials", "none",
                ], in: scope)
            // Some statistics exist only after a reaction, or after the store has failed.
            try await daemon.cachectl("pressure", "warning")
            _ = try await daemon.fetch("http://images.test/a.png")
            let file = URL(filePath: #filePath).appending(path: "../../../docs/lookup/stats.md")
            let explained = try String(contentsOf: file.standardized, encoding: .utf8)
                .split(separator: "\n").filter { $0.hasPrefix("| `") }
                .flatMap { $0.split(separator: "|")[0].matches(of: /`([a-zA-Z]+)`/) }
                .map { String($0.1) }
            let reply = try await daemon.statsReply()
            let reported = Array(reply.stats.keys) + (reply.histograms ?? [:]).keys
            #expect(reported.sorted() == explained.sorted())
        }
    }
}

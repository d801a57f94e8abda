import CacheKey
import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// What the history costs, and what its loss does.
extension HistoryTests {
    /// 10,000 events and the samples of nearly 24 hours, so that none is too old while the test runs.
    private static func full() throws -> String {
        let now = Int(Date().timeIntervalSince1970)
        let samples = (1...1420).map { minute in
            let figures = (0..<9).map { "\(minute * 1_000_000 + $0)" }.joined(separator: "\t")
            return "sample\t\(now - 60 * (1421 - minute))\t\(figures)\n"
        }
        let events = try (0..<10_000).map { number in
            let url = "https://images.example.com/gallery/2026/\(number).jpg"
            return "\(now)\t\(CacheKey(try CacheURL(url)))\tfetched\t\t123456\t\t\t\t\t\(url)\t\n"
        }
        return "cached history 1\n" + samples.joined() + events.joined()
    }

    /// Asks for everything, and returns the numbers of events and samples.
    private func askAll(
        _ daemon: DaemonFixture
    ) async throws -> (events: Int, samples: Int) {
        let reply = try await daemon.ask(
            call("History", parameters: #""limit":20000,"samples":true"#))
        let parameters = try #require(reply.parameters, "\(reply)")
        return (parameters.events?.count ?? 0, parameters.samples?.at.count ?? 0)
    }

    @Test(.disabled(if: isSanitized, "memory is not measured"))
    func aFullHistoryTakesNoMegabyteWhileTheDaemonRests() async throws {
        try await withTestScope { scope in
            var cache = try await FilledCache(1, in: scope)
            try await cache.daemon.stop()
            unlink(path(cache.daemon))
            cache = try await cache.restarted()
            #expect(try await askAll(cache.daemon).events == 0)
            var alone = Int.max
            for _ in 0..<20 {
                alone = min(alone, try await cache.daemon.metric("anonymousBytes"))
            }
            try await cache.daemon.stop()
            try Data(Self.full().utf8).write(to: URL(filePath: path(cache.daemon)))
            cache = try await cache.restarted()
            let all = try await askAll(cache.daemon)
            #expect(all.events == 10_000 && all.samples >= 1420)
            // A long answer would leave its own traces.
            try await cache.restart()
            let daemon = cache.daemon
            let parameters = #""limit":1,"samples":true"#
            let reply = try await daemon.ask(call("History", parameters: parameters))
            #expect(reply.parameters?.samples?.at.count ?? 0 >= 1420)
            let bound = alone + 1 << 20
            try await waitUntil("the memory of the answer to be given back") {
                try await daemon.metric("anonymousBytes") <= bound
            }
            // All of it is in the file.
            unlink(path(daemon))
            #expect(try await askAll(daemon).events == 0)
        }
    }

    /// What stands at the place of the history.
    enum Damage: CaseIterable {
        case nothing, garbage, zeros, cut, directory, link

        func take(_ path: String) throws {
            let file = URL(filePath: path)
            let text = self == .cut ? try Data(contentsOf: file).dropLast(40) : Data()
            unlink(path)
            switch self {
            case .nothing: break
            case .garbage: try Data("no history\n".utf8).write(to: file)
            case .zeros: try Data(count: 100_000).write(to: file)
            case .cut: try text.write(to: file)
            case .directory: #expect(mkdir(path, 0o700) == 0)
            case .link: #expect(symlink("/dev/zero", path) == 0)
            }
        }
    }

    @Test(arguments: Damage.allCases, [true, false])
    func aLostHistoryCostsNothing(damage: Damage, isRunning: Bool) async throws {
        try await withTestScope { scope in
            var cache = try await FilledCache(3, in: scope)
            #expect(try await events(cache.daemon).count == 3)
            if isRunning {
                try damage.take(path(cache.daemon))
            } else {
                try await cache.daemon.stop()
                try damage.take(path(cache.daemon))
                cache = try await cache.restarted()
            }
            // The images are here, others come, what happens from now on is known, and the daemon ends.
            let daemon = cache.daemon
            #expect(try cache.held() == [0, 1, 2])
            try await daemon.cachectl("remove", cache.urls[0])
            #expect(try await events(daemon).last?.kind == .removed)
            let again = try await daemon.fetch(cache.urls[0])
            #expect(again.state == .cached)
            #expect(try await events(daemon, [cache.urls[0]]).last?.kind == .fetched)
            #expect(try await daemon.cachectl("why", cache.urls[1]).status == .success)
            try await cache.restart()
            #expect(try cache.held() == [0, 1, 2])
        }
    }
}

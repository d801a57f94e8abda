import CacheKey
import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// The daemon remembers what happened, and answers why an image is not here.
@Suite("History", .timeLimit(.minutes(5)))
struct HistoryTests {
    private let image = SampleImage.png()

    func events(
        _ daemon: DaemonFixture, _ urls: [String]? = nil, _ parameters: String...
    ) async throws -> [HistoryEvent] {
        let reply = try await daemon.ask(
            call("History", urls, parameters: parameters.joined(separator: ",")))
        return try #require(reply.parameters?.events, "\(reply)")
    }

    private func why(_ daemon: DaemonFixture, _ url: String) async throws -> (
        text: String, status: TestSupport.ExitStatus
    ) {
        let output = try await daemon.cachectl("why", url)
        #expect(output.text.hasPrefix("\(url): "))
        return (String(output.text.dropFirst(url.utf8.count + 2)), output.status)
    }

    func path(_ daemon: DaemonFixture) -> String { "\(daemon.directory)/.history" }

    @Test func eachKindOfEventIsRememberedAndAnswersWhy() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            func fetched(_ name: String) async throws -> String {
                origin.route(
                    name,
                    .answer(
                        headers: ["ETag": "\"1\"", "Cache-Control": "max-age=600"],
                        body: SampleImage.png(seed: name.utf8.reduce(0) { $0 + Int($1) } % 250)))
                let url = origin.url(name)
                #expect(try await daemon.fetch(url).state == .cached)
                return url
            }
            let here = try await fetched("/here.png")
            #expect(try await why(daemon, here).text.hasPrefix("here, fetched "))
            #expect(try await why(daemon, here).status == .success)

            origin.route("/here.png", .answer(304, headers: ["ETag": "\"1\""], body: []))
            try await daemon.cachectl("fetch", "--refresh", here)
            #expect(try await events(daemon, [here]).map(\.kind) == [.fetched, .confirmed])

            let never = try await why(daemon, origin.url("/never.png"))
            #expect(never.text.hasPrefix("not here: nobody asked for it"))
            #expect(never.status == .exited(1))

            origin.route("/failed.png", .answer(404, body: Array("no".utf8)))
            let failed = origin.url("/failed.png")
            #expect(try await daemon.fetch(failed).state == .missing)
            let failure = try #require(try await events(daemon, [failed]).last)
            #expect(failure.kind == .failed && failure.failure?.httpStatus == 404)
            let text = try await why(daemon, failed).text
            #expect(text.contains(" ago: the server answered with status 404"))
            #expect(text.contains("its origin is not asked again for"))
            let list = try await daemon.cachectl("list", "--state", "failed")
            #expect(list.text.contains(failed) && list.text.contains("status 404"))
            #expect(!list.text.contains(here))

            let removed = try await fetched("/removed.png")
            try await daemon.cachectl("remove", removed)
            let removal = try #require(try await events(daemon, [removed]).last)
            #expect(removal.kind == .removed && removal.reason == .requested)
            #expect(removal.user == Int(geteuid()) && removal.bytes ?? 0 > 0)
            #expect(try await why(daemon, removed).text.contains(" ago: by "))

            let outside = try await fetched("/outside.png")
            unlink(try daemon.path(outside))
            try await daemon.waitForState(.missing, of: outside)
            #expect(
                try await why(daemon, outside).text.contains("another program removed its file"))

            let damaged = try await fetched("/damaged.png")
            let file = try #require(FileHandle(forUpdatingAtPath: try daemon.path(damaged)))
            try file.seek(toOffset: 40)
            try file.write(contentsOf: Data([0xFF, 0xFE]))
            try file.close()
            try await daemon.cachectl("verify")
            #expect(try await events(daemon, [damaged]).last?.kind == .damaged)
            #expect(try await why(daemon, damaged).text.contains("its file was damaged"))

            try await daemon.cachectl("evict", "--to", "0")
            let evicted = try #require(try await events(daemon, nil, #""kinds":["evicted"]"#).last)
            #expect(evicted.url == here && evicted.reason == .requested && evicted.bytes ?? 0 > 0)
            #expect(
                try await why(daemon, here).text.hasSuffix(" ago: a user asked for room\n"))

            let gate = try Gate()
            origin.route(
                "/slow.png", OriginScript([.wait(gate)] + OriginScript.answer(body: image).steps))
            let slow = origin.url("/slow.png")
            _ = try await daemon.ask(call("Fetch", [slow], parameters: #""wait":false"#))
            let inFlight = try await why(daemon, slow)
            #expect(inFlight.text.hasPrefix("in flight: ") && inFlight.status == .exited(2))
            try await daemon.cachectl("remove", slow)
            #expect(try await why(daemon, slow).text.contains("its download was cancelled"))
            gate.open()

            let table = try await daemon.cachectl(
                "history", "--kind", "failed", "--kind", "removed", "--since", "1h")
            #expect(table.text.contains("WHEN") && table.text.contains("by "))
            let json = try await daemon.cachectl("history", "--json", "--limit", "1")
            #expect(json.lines.count == 1 && json.text.contains(#""reason":"cancelled""#))
        }
    }

    @Test func outlivesARestartAndACrash() async throws {
        try await withTestScope { scope in
            var cache = try await FilledCache(3, in: scope)
            for isCrash in [false, true] {
                if isCrash {
                    let path = path(cache.daemon)
                    let name = try CacheKey(CacheURL(cache.urls[2])).description
                    try await waitUntil("the events to be written") {
                        try String(contentsOfFile: path, encoding: .utf8).contains(name)
                    }
                }
                try await cache.restart(afterCrash: isCrash)
                let urls = try await events(cache.daemon, nil, #""kinds":["fetched"]"#).map(\.url)
                #expect(urls == cache.urls)
            }
            // The file is nobody else's business, and losing it harms nothing.
            var status = stat()
            #expect(stat(path(cache.daemon), &status) == 0 && status.st_mode & 0o777 == 0o600)
            unlink(path(cache.daemon))
            #expect(try await events(cache.daemon).isEmpty)
            try await cache.daemon.cachectl("remove", cache.urls[0])
            #expect(try await events(cache.daemon).map(\.kind) == [.removed])
        }
    }

    @Test(arguments: ["garbage\n", "", "\0\0\0", "cached history 1\nnot an event\n\tx\t\t\n17"])
    func aDamagedFileIsAnEmptyHistory(text: String) async throws {
        try await withTestScope { scope in
            var cache = try await FilledCache(1, in: scope)
            try await cache.daemon.stop()
            try Data(text.utf8).write(to: URL(filePath: path(cache.daemon)))
            cache = try await cache.restarted()
            #expect(try await events(cache.daemon).isEmpty)
            try await cache.daemon.cachectl("remove", cache.urls[0])
            #expect(try await events(cache.daemon).map(\.kind) == [.removed])
            let isDamaged = !text.isEmpty && !text.hasPrefix("cached")
            #expect(cache.daemon.log.contains("the history was damaged") == isDamaged)
        }
    }

    @Test func remembersTenThousandEventsInABoundedFile() async throws {
        try await withTestScope { scope in
            var cache = try await FilledCache(1, in: scope)
            try await cache.daemon.stop()
            // Together the lines are longer than the file may become.
            let rest = "/" + String(repeating: "x", count: 700)
            let lines = try (0..<10_001).map { number in
                let url = "http://127.0.0.1/\(number)\(number < 5000 ? rest : "")"
                return
                    "1790000000\t\(CacheKey(try CacheURL(url)))\tfetched\t\t9\t\t\t\t\t\(url)\t\n"
            }
            let text = "cached history 1\n" + lines.joined()
            try Data((text + lines.prefix(5000).joined() + lines.joined()).utf8)
                .write(to: URL(filePath: path(cache.daemon)))
            cache = try await cache.restarted()
            let all = try await events(cache.daemon, nil, #""limit":20000"#)
            #expect(all.count == 10_000)
            #expect(all.first?.url == "http://127.0.0.1/1\(rest)")
            #expect(all.last?.url == "http://127.0.0.1/10000")
            #expect(try await events(cache.daemon).count == 1000)
            let before = try await cache.daemon.metric("anonymousBytes")
            // The next event shortens the file.
            try await cache.daemon.cachectl("remove", cache.urls[0])
            let left = try await events(cache.daemon, nil, #""limit":20000"#)
            #expect(left.count > 5000 && left.last?.kind == .removed)
            #expect(size(at: path(cache.daemon)) ?? .max <= 4_200_000)
            print("history: \(before) bytes after 10,000 events were asked for")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become other users"))
    func aUserSeesOnlyEventsOfImagesThatHeNames() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            let daemon = try await DaemonFixture.forAllUsers(in: scope)
            let url = origin.url("/secret.png")
            _ = try await daemon.fetch(origin.url("/a.png"))
            #expect(try await daemon.fetch(url).state == .missing)
            let script = """
                s = connect()
                for call in (message("History"), message("List", state="failed"),
                             message("History", urls=[sys.argv[2]]), message("History", urls=[], samples=True)):
                    s.sendall(call)
                    say(reply(s)[:-1].decode())
                """
            let user = try TestUser.other.start(
                script, daemon.socket, [origin.url("/a.png")], in: scope)
            #expect(try await user.waitForExit() == .success)
            let text = user.text(.standardOutput)
            #expect(!text.contains("secret"))
            let replies = try text.split(separator: "\n").map { try AnyReply(String($0)) }
            try #require(replies.count == 4)
            for reply in replies.prefix(2) {
                #expect(reply.error == "org.varlink.service.PermissionDenied")
                #expect(reply.reason?.contains("what others fetched") == true)
            }
            #expect(replies[2].parameters?.events?.map(\.kind) == [.fetched])
            #expect(replies[3].parameters?.events?.isEmpty == true)
            // The owner and root see all.
            #expect(try await events(daemon).contains { $0.url == url })
        }
    }

    @Test func theListInTheOrderOfEvictionIsTrue() async throws {
        try await withTestScope { scope in
            var cache = try await FilledCache(6, in: scope)
            try await cache.daemon.cachectl("pin", cache.urls[0])
            try await cache.daemon.stop()
            // The file system tells when each was last read; a time in the future counts as now.
            for number in [2, 4, 5] {
                try await runSuccessfully(
                    "touch", ["-a", "--date", "\(number - 60) seconds", try cache.path(number)])
            }
            cache = try await cache.restarted()
            let daemon = cache.daemon
            let list = try await daemon.cachectl("list", "--order", "eviction", "--json")
            let items = try list.lines.map {
                try JSONDecoder().decode(Item.self, from: Data($0.utf8))
            }
            #expect(items.map(\.url) == [2, 4, 5, 1, 3, 0].map { cache.urls[$0] })
            #expect(items.map(\.rank) == Array(repeating: .neverUsed, count: 5) + [.pinned])
            let table = try await daemon.cachectl("list", "--order", "eviction", "--limit", "1")
            #expect(table.text.contains("never used") && table.text.contains(cache.urls[2]))
            #expect(
                try await daemon.cachectl("list", "--order", "eviction", "--reverse").status
                    == .exited(64))
            for (number, left) in [5, 4, 3, 2].enumerated() {
                try await cache.evict(to: left)
                let held = items.dropFirst(number + 1).compactMap {
                    cache.urls.firstIndex(of: $0.url)
                }
                #expect(try cache.held() == held.sorted())
            }
        }
    }
}

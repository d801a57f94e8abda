import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// Commands of `cachectl` for people and for programs that want plain names or bytes.
@Suite("Manners of the command line", .timeLimit(.minutes(5)))
struct MannersTests {
    @Test func listTakesFilters() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(3, in: scope)
            let origin = cache.origin
            let gate = try Gate()
            origin.route(
                "/slow.png", .gated(SampleImage.png(byteCount: 9000), after: 4500, gate))
            func urls(_ arguments: String...) async throws -> [String] {
                let output = try await run(
                    BuiltProducts.program("cachectl"),
                    ["--socket", cache.daemon.socket, "ls", "--json"] + arguments)
                #expect(output.status == .success)
                return try output.lines.map {
                    try JSONDecoder().decode(Item.self, from: Data($0.utf8)).url
                }.sorted()
            }
            #expect(try await urls("--host", "127.0.0.1") == cache.urls)
            #expect(try await urls("--host", "example.com") == [])
            #expect(try await urls("--prefix", cache.urls[1]) == [cache.urls[1]])
            _ = try await cache.daemon.cachectl("pin", cache.urls[2])
            #expect(try await urls("--state", "pinned") == [cache.urls[2]])
            let slow = origin.url("/slow.png")
            _ = try await cache.daemon.cachectl("fetch", "--no-wait", slow)
            try await gate.reached()
            #expect(try await urls("--state", "in-flight") == [slow])
            gate.open()
        }
    }

    @Test func catAndShowWriteBytes() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(1, in: scope)
            let image = SampleImage.png(byteCount: 700_000)
            cache.origin.route("/new.png", .answer(body: image))
            // It is downloaded if it is missing.
            let url = cache.origin.url("/new.png")
            let cat = try await cache.daemon.cachectl("cat", url, cache.urls[0])
            #expect(cat.status == .success && cat.errorText == "")
            #expect(cat.standardOutput == image + (try contents(of: cache.path(0))))
            let show = try await cache.daemon.cachectl("show", url)
            #expect(show.standardOutput == image)
            let failed = try await cache.daemon.cachectl("cat", cache.origin.url("/no.png"), url)
            #expect(failed.status == .exited(1) && failed.standardOutput == image)
            #expect(failed.errorText.contains("404"))
        }
    }

    @Test func everyFigureIsAMetric() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(2, in: scope)
            _ = try await cache.daemon.cachectl("pressure", "critical")
            let object = try await cache.daemon.cachectl("stats", "--json")
            let stats = try JSONDecoder().decode(
                [String: JSONValue].self, from: Data(object.standardOutput))
            let metrics = try await cache.daemon.cachectl("stats", "--prometheus")
            #expect(metrics.status == .success)
            let types = metrics.lines.filter { $0.hasPrefix("# TYPE ") }
            let single = types.filter { !$0.hasSuffix(" histogram") && !$0.contains("_by_kind_") }
            // All numbers, and cached_build_info.
            let texts = stats.filter { key, value in
                if case .string = value { key != "pressureLevel" } else { false }
            }
            #expect(single.count == stats.count - texts.count + 1)
            #expect(!metrics.text.contains("http://"))
        }
    }

    @Test func anInterruptedFetchSaysWhatIsKept() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(1, in: scope)
            let gate = try Gate()
            cache.origin.route(
                "/slow.png",
                .gated(
                    SampleImage.png(byteCount: 900_000), after: 450_000, gate,
                    headers: ["ETag": "\"1\""]))
            let slow = cache.origin.url("/slow.png")
            let fetch = try cache.daemon.startCachectl("fetch", cache.urls[0], slow)
            let path = try cache.daemon.path(slow)
            try await waitUntil("the half of the image") {
                PlainReader.state(ofPath: path) == .inFlight(received: 450_000, of: 900_000)
            }
            fetch.signal(SIGINT)
            #expect(try await fetch.waitForExit() == .exited(130))
            #expect(
                fetch.text(.standardError) == "cachectl: interrupted: 1 of 2 images are cached; a "
                    + "partial download of 450 kB is kept, and the next fetch continues it\n")
            #expect(fetch.text(.standardOutput) == "")
            gate.open()
            let rest = try await cache.daemon.cachectl("fetch", slow)
            #expect(rest.status == .success)
            #expect(cache.origin.requests("/slow.png").last?.headers["Range"] != nil)
        }
    }

    @Test func linksFollowTheCache() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(2, in: scope)
            let tree = try TemporaryDirectory(in: scope).file("pictures")
            let host = cache.origin.url("").split(separator: "/")[1]
            let once = try await cache.daemon.cachectl("link", tree)
            #expect(once.status == .success && once.text == "linked 2 images in \(tree)\n")
            let first = "\(tree)/\(host)/0.png"
            #expect(try contents(of: first) == contents(of: cache.path(0)))
            // A removed file is noticed however it was removed.
            #expect(unlink(try cache.path(0)) == 0)

            let follow = try cache.daemon.startCachectl("link", "--follow", tree)
            cache.origin.route("/deep/er/new", .answer(body: SampleImage.png()))
            let new = cache.origin.url("/deep/er/new")
            #expect(try await cache.daemon.fetch(new).state == .cached)
            let link = "\(tree)/\(host)/deep/er/new.png"
            try await follow.waitForLine(containing: "linked \(link)", on: .standardOutput)
            #expect(try contents(of: link) == SampleImage.png())
            var status = stat()
            #expect(lstat(first, &status) != 0 && errno == ENOENT)
            #expect(unlink(try cache.daemon.path(new)) == 0)
            try await follow.waitForLine(containing: "removed \(link)", on: .standardOutput)
            #expect(access("\(tree)/\(host)/deep", F_OK) != 0)
            _ = try await cache.daemon.cachectl("remove", "--all")
            try await follow.waitForLine(
                containing: "removed \(tree)/\(host)/1.png", on: .standardOutput)
            #expect(access("\(tree)/\(host)", F_OK) != 0 && access(tree, F_OK) == 0)
            follow.signal(SIGINT)
            #expect(try await follow.waitForExit() == .exited(130))
        }
    }

    @Test func nameAsksTheDaemonAtTheSocket() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let url = "https://example.com/a.png"
            let name = try await daemon.cachectl("name", "--path", url)
            let path = try daemon.path(url)
            #expect(name.status == .success && name.text == path + "\n")
            let nobody = try await run(
                BuiltProducts.program("cachectl"),
                ["name", "--path", "--socket", "/nonexistent/s", url])
            #expect(nobody.status == .exited(69) && nobody.text.isEmpty)
        }
    }
}

import CacheKey
import CacheWire
import Foundation
import TestSupport
import Testing

/// Many URLs with equal bytes, and URLs that mean one image because an application or a rule says so.
@Suite("Shared contents", .serialized, .timeLimit(.minutes(10)))
struct SharedContentsTests {
    private func wants(_ wants: [(url: String, key: String?)], _ more: String...) -> String {
        let list = wants.map { want in
            let key = want.key.map { #","key":\#(quoted($0))"# } ?? ""
            return #"{"url":\#(quoted(want.url))\#(key)}"#
        }
        let members = [#""wants":[\#(list.joined(separator: ","))]"#] + more
        let parameters = members.joined(separator: ",")
        return #"{"method":"io.cached.Cache.Fetch","parameters":{\#(parameters)}}"#
    }

    private func inode(_ path: String) throws -> ino_t {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw TestFailure("there is no \(path)") }
        return status.st_ino
    }

    private func expectTrueFigures(_ daemon: DaemonFixture) async throws {
        try await waitUntil("the figures to agree with the disk") {
            let usage = try DirectoryUsage(of: daemon.directory)
            let bytes = try await daemon.metric("bytesUsed")
            let entries = try await daemon.metric("entries")
            return bytes == usage.bytes && entries == usage.entries
        }
    }

    /// An origin that checks no signature, but has seen them all.
    private func signed(_ count: Int, _ origin: ScriptedOrigin) -> [String] {
        (0..<count).map { origin.url("/a.png?size=2&sig=\($0)") }
    }

    // MARK: One file

    @Test func manyURLsOfFewContentsTakeTheSpaceOfTheContents() async throws {
        try await withTestScope { scope in
            let (urls, contents) = isLongForm ? (10_000, 1000) : (1000, 100)
            let origin = try ScriptedOrigin(in: scope)
            for number in 0..<contents {
                let image = SampleImage.png(byteCount: 9000, seed: number)
                origin.route("/\(number).png", .answer(body: image))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let all = (0..<urls).map { origin.url("/\($0 % contents).png?\($0 / contents)") }
            for start in stride(from: 0, to: urls, by: 500) {
                let some = Array(all[start..<min(start + 500, urls)])
                let states = try await daemon.ask(call("Fetch", some)).items.map(\.state)
                #expect(states.allSatisfy { $0 == .cached })
            }
            try await expectTrueFigures(daemon)
            #expect(try await daemon.metric("entries") == urls)
            let inodes = Set(try all.map { try inode(try daemon.path($0)) })
            #expect(inodes.count == contents)
            // 9,000 bytes are three blocks. The attributes of ten names need a fourth at most.
            #expect(try await daemon.metric("bytesUsed") <= contents * 4 * 4096)
        }
    }

    @Test func aCopyOfTheFolderIsACacheToo() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 50_000)))
            let daemon = try await DaemonFixture.start(in: scope)
            let urls = signed(5, origin)
            for url in urls { #expect(try await daemon.fetch(url).state == .cached) }
            try await daemon.stop()
            for copy in [["cp", "-a"], ["rsync", "-aHX"], ["rsync", "-aX"], ["cp", "-r"]] {
                let place = try TemporaryDirectory(in: scope).path
                try await runSuccessfully(
                    copy[0], copy.dropFirst() + [daemon.directory + "/", "\(place)/copy"])
                var options = DaemonFixture.Options()
                let isNested = access("\(place)/copy/CACHEDIR.TAG", F_OK) != 0
                options.directory = isNested ? "\(place)/copy/cache" : "\(place)/copy"
                let other = try await DaemonFixture.start(options, in: scope)
                try await other.waitForScan()
                // The attributes are the record; a file without them is no entry.
                let keepsAttributes = copy != ["cp", "-r"]
                for url in urls {
                    let state = try await other.status(url).state
                    #expect(state == (keepsAttributes ? .cached : .missing), "\(copy)")
                }
                if keepsAttributes {
                    // Without -H, rsync splits the links. Each file is an entry then.
                    let files = Set(try urls.map { try inode(try other.path($0)) }).count
                    #expect(files == (copy == ["rsync", "-aX"] ? urls.count : 1), "\(copy)")
                    try await expectTrueFigures(other)
                }
                try await other.stop()
            }
        }
    }

    // MARK: One image

    @Test func signaturesOfOneImageAreOneFileWithoutARule() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 50_000)))
            let daemon = try await DaemonFixture.start(in: scope)
            let urls = signed(5, origin)
            for url in urls { #expect(try await daemon.fetch(url).state == .cached) }
            #expect(origin.requests("/a.png").count == 5)
            #expect(Set(try urls.map { try inode(try daemon.path($0)) }).count == 1)
            #expect(try await daemon.status(urls[0], details: true).names == 5)
            #expect(try await daemon.metric("entries") == 5)
        }
    }

    @Test func signaturesOfOneImageAreOneEntryByARule() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route(
                "/a.png",
                .answer(
                    headers: ["ETag": "\"1\"", "Cache-Control": "max-age=0"],
                    body: SampleImage.png(byteCount: 50_000)))
            var options = DaemonFixture.Options()
            options.environment["CACHED_IGNORE_QUERY"] = "127.0.0.1:sig"
            let daemon = try await DaemonFixture.start(options, in: scope)
            let urls = signed(5, origin)
            #expect(try await daemon.fetch(urls[0]).state == .cached)
            let path = try daemon.path(origin.url("/a.png?size=2"))
            for url in urls {
                let item = try await daemon.status(url)
                #expect(item.state == .cached && item.path == path && item.url == url)
            }
            #expect(try await daemon.metric("entries") == 1)
            #expect(origin.requests().count == 1)
            // The revalidation uses the newest signature, the one that is still valid.
            origin.route("/a.png", .answer(304, headers: ["ETag": "\"1\""]))
            _ = try await daemon.ask(call("Fetch", [urls[4]], parameters: #""refresh":true"#))
            #expect(origin.requests().last?.target == "/a.png?size=2&sig=4")
            #expect(origin.requests().last?.headers["If-None-Match"] == "\"1\"")
            let name = try await daemon.cachectl("name", urls[3])
            #expect(path.hasSuffix(name.text.trimmingCharacters(in: .newlines)))
        }
    }

    @Test func anApplicationNamesTheImage() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let key = "https://cdn.example.com/a.png"
            origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 50_000)))
            let daemon = try await DaemonFixture.start(in: scope)
            let urls = signed(3, origin)
            for url in urls {
                let items = try await daemon.ask(wants([(url, key)])).items
                #expect(items.map(\.state) == [.cached])
                #expect(items.first?.path == (try daemon.path(key)))
            }
            #expect(origin.requests().count == 1)
            // Its readers know the key alone.
            let item = try await daemon.status(key, details: true)
            #expect(item.state == .cached && item.sourceURL == urls[0])
            #expect(try await daemon.status(urls[0]).state == .missing)
        }
    }

    /// The newer download replaces the older, as a changed image does.
    @Test func twoURLsOfOneKeyWithOtherBytes() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let key = "https://cdn.example.com/a.png"
            let images = (0..<2).map { SampleImage.png(byteCount: 5000, seed: $0) }
            for (number, image) in images.enumerated() {
                origin.route("/\(number).png", .answer(body: image))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let path = try daemon.path(key)
            for (number, image) in images.enumerated() {
                let url = origin.url("/\(number).png")
                let items = try await daemon.ask(wants([(url, key)], #""refresh":true"#)).items
                #expect(items.map(\.state) == [.cached])
                #expect(try contents(of: path) == image)
            }
            #expect(try await daemon.metric("entries") == 1)
        }
    }

    // MARK: Bad input

    @Test func whatIsNoKeyAndNoDigestIsRefusedWithReasons() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 5000)
            origin.route("/a.png", .answer(body: image))
            let daemon = try await DaemonFixture.start(in: scope)
            let url = origin.url("/a.png")
            for key in ["", "a.png", "sha256:00", "javascript:alert(1)", "https://", "\u{0}"] {
                let failure = try await daemon.ask(wants([(url, key)])).items.first?.failure
                #expect(failure?.kind == "invalidURL", "\(key)")
                #expect(failure?.message.contains("key") == true, "\(failure?.message ?? "")")
            }
            #expect(origin.requests().isEmpty)
            for digest in ["", "00", String(repeating: "g", count: 64)] {
                let item = try await daemon.status("sha256:\(digest)")
                #expect(item.state == .missing)
                #expect(item.failure?.message.contains("64 hexadecimal digits") == true)
            }
            let unknown = "sha256:" + String(repeating: "0", count: 64)
            #expect(try await daemon.fetch(unknown).failure?.kind == "notCached")
            #expect(try await daemon.fetch(url).state == .cached)
            let digest = try #require(try await daemon.status(url, details: true).sha256)
            #expect(try await daemon.status("sha256:\(digest)").state == .cached)
        }
    }

    @Test(arguments: ["*:sig", "a.example,b.example:sig", "cdn.example", "cdn.example:", "a:b c"])
    func aRuleThatCouldJoinHostsOrNamesNothingStopsTheStart(_ rule: String) async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope).path
            let output = try await run(
                BuiltProducts.program("cached"),
                ["--directory", directory, "--socket", "\(directory)/s", "--ignore-query", rule])
            #expect(output.status == .exited(78), "\(output.errorText)")
            #expect(output.errorText.contains(rule.split(separator: " ")[0]))
        }
    }
}

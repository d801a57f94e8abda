import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// `cachectl info PATH` prints the record of a file in a cache directory, without a daemon.
@Suite("Records of files", .timeLimit(.minutes(5)))
struct InfoTests {
    private func info(_ arguments: String...) async throws -> ProcessOutput {
        try await run(
            BuiltProducts.program("cachectl"), ["info"] + arguments,
            environment: minimalEnvironment(["HOME": "/nonexistent"]))
    }

    private func fields(_ output: ProcessOutput) throws -> [String: JSONValue] {
        try JSONDecoder().decode([String: JSONValue].self, from: Data(output.standardOutput))
    }

    /// The path of a cached image, and its URL. No daemon runs any more.
    private func cached(in scope: TestScope) async throws -> (path: String, url: String) {
        let origin = try ScriptedOrigin(in: scope)
        origin.route(
            "/a.png",
            .answer(
                headers: ["ETag": "\"e1\"", "Cache-Control": "max-age=60, stale-if-error=5"],
                body: SampleImage.png(width: 31, height: 17, byteCount: 5000)))
        let daemon = try await DaemonFixture.start(in: scope)
        let url = origin.url("/a.png")
        #expect(try await daemon.fetch(url).state == .cached)
        try await daemon.stop()
        return (try daemon.path(url), url)
    }

    @Test func printsEveryFieldOfAnEntry() async throws {
        try await withTestScope { scope in
            let (path, url) = try await cached(in: scope)
            let text = try await info(path)
            #expect(text.status == .success)
            #expect(text.lines.first == "path            \(path)")
            let output = try await info("--json", path)
            #expect(output.status == .success)
            let fields = try fields(output)
            let expected: [String: JSONValue] = [
                "kind": "entry", "record": "v3", "path": .string(path), "size": 5000,
                "mediaType": "image/png", "mimeType": "image/png", "width": 31, "height": 17,
                "pinned": false,
                "guessed": false, "mustRevalidate": false, "lifetime": 60, "staleIfError": 5,
                "etag": "\"e1\"", "url": .string(url), "key": .string(try key(url)),
                "sha256": .string(try await sha256(try contents(of: path))),
            ]
            for (name, value) in expected { #expect(fields[name] == value, "\(name)") }
            for name in ["fetchedAt", "freshUntil", "lastUsedAt", "confirmedAt"] {
                #expect(fields[name] != nil, "\(name)")
            }
            for name in fields.keys { #expect(text.text.contains(name), "\(name)") }
        }
    }

    @Test func printsAPartial() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 200_000)
            origin.route("/a.png", .gated(image, after: 100_000, gate, headers: ["ETag": "\"1\""]))
            let daemon = try await DaemonFixture.start(in: scope)
            let client = try daemon.connect()
            try await client.send(call("Fetch", [origin.url("/a.png")]) + "\0")
            let path = try daemon.path(origin.url("/a.png"))
            try await waitUntil("the download to be in flight") {
                PlainReader.state(ofPath: path) == .inFlight(received: 100_000, of: 200_000)
            }
            let fields = try fields(try await info("--json", path + ".part"))
            let expected: [String: JSONValue] = [
                "kind": "partial", "received": 100_000, "total": 200_000, "etag": "\"1\"",
            ]
            for (name, value) in expected { #expect(fields[name] == value, "\(name)") }
            gate.open()
        }
    }

    @Test func aKeyIsAFileOfTheCacheDirectory() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(1, in: scope)
            let key = try key(cache.urls[0])
            let byDaemon = try await cache.daemon.cachectl("info", "--json", key)
            #expect(byDaemon.status == .success)
            #expect(try fields(byDaemon)["path"] == .string(try cache.path(0)))
            #expect(try fields(byDaemon)["url"] == .string(cache.urls[0]))
            try await cache.daemon.stop()
            let byEnvironment = try await run(
                BuiltProducts.program("cachectl"), ["info", "--json", key],
                environment: minimalEnvironment(["CACHED_DIRECTORY": cache.daemon.directory]))
            #expect(try fields(byEnvironment) == fields(byDaemon))
            let absent = "00000000-0000-5000-8000-000000000000"
            let missing = try await run(
                BuiltProducts.program("cachectl"), ["info", absent, key],
                environment: minimalEnvironment(["CACHED_DIRECTORY": cache.daemon.directory]))
            #expect(missing.status == .exited(1))
            #expect(missing.errorText.contains("\(cache.daemon.directory)/\(absent): No such file"))
            #expect(missing.text.contains(cache.urls[0]))
        }
    }

    @Test func saysWhatIsWrongWithAFile() async throws {
        try await withTestScope { scope in
            let (path, url) = try await cached(in: scope)
            let attributes = ExtendedAttributes(of: path)
            let record = try #require(try attributes.bytes(of: try recordName(url)))

            let absent = path.dropLast(36) + "00000000-0000-5000-8000-000000000000"
            try await expect("No such file", of: String(absent), .exited(1))
            try await expect("36 characters", of: "/etc/passwd", .exited(1))
            try await expect("36 characters", of: path + ".png", .exited(1))

            try attributes.set(try recordName(url), record.dropLast() + [record[51] ^ 1])
            try await expect("damaged", of: path, .exited(1))
            try await remove(try recordName(url), path)
            try await expect("no record", of: path, .exited(1))

            try attributes.set(try recordName(url), record)
            try #require(truncate(path, 400) == 0)
            let cut = try await info("--json", path)
            #expect(cut.status == .exited(1))
            #expect(try fields(cut)["size"] == 5000)
            #expect(cut.errorText.contains("400 bytes") && cut.errorText.contains("5000"))

            let mixed = try await info(path, "http://a.example/")
            #expect(mixed.status == .exited(64))
        }
    }

    private func expect(
        _ words: String, of path: String, _ status: TestSupport.ExitStatus
    ) async throws {
        let output = try await info(path)
        #expect(output.status == status, "\(path)")
        #expect(output.text.isEmpty)
        #expect(output.errorText.contains(words), "\(output.errorText)")
        #expect(output.errorText.contains(path))
    }

    private func remove(_ attribute: String, _ path: String) async throws {
        try await runSuccessfully("setfattr", ["-x", attribute, path])
    }
}

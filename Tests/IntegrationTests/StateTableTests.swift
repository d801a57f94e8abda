import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// A program that reads the directory by itself sees the state that the daemon reports, in every state that a name
/// can have.
@Suite("States read without the daemon", .timeLimit(.minutes(5)))
struct StateTableTests {
    /// A name in one state, and the answers that both should give.
    private struct Row {
        let name: String
        let url: String
        let expected: Item.State
        /// Of a download that runs or was interrupted.
        var received: Int?
        var total: Int?

        init(
            _ name: String, _ url: String, _ expected: Item.State, received: Int? = nil,
            total: Int? = nil
        ) {
            (self.name, self.url, self.expected) = (name, url, expected)
            (self.received, self.total) = (received, total)
        }
    }

    private static let image = SampleImage.png(byteCount: 200_000)

    @Test func readerAndDaemonAgreeInEveryState() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let gate = try Gate()
            let rows =
                try await cached(origin, daemon) + gone(origin, daemon)
                + changedByOthers(origin, daemon) + inFlight(origin, daemon, gate)
            #expect(rows.count >= 30)
            for row in rows { try await check(row, daemon) }
            gate.open()
            for row in rows where row.expected == .inFlight {
                try await daemon.waitForState(.cached, of: row.url)
                try await check(Row("finished: " + row.name, row.url, .cached), daemon)
            }
        }
    }

    /// The answers of the daemon and of the reader are compared with the arranged state, and so with each other.
    private func check(_ row: Row, _ daemon: DaemonFixture) async throws {
        let path = try daemon.path(row.url)
        let item = try await daemon.status(row.url)
        #expect(item.state == row.expected, "\(row.name): the daemon")
        #expect(item.received == row.received || item.state == .cached, "\(row.name): the daemon")
        let seen = PlainReader.state(ofPath: path)
        switch (row.expected, row.received) {
        case (.cached, _): #expect(seen == .cached, "\(row.name)")
        case (.inFlight, let received?):
            #expect(seen == .inFlight(received: received, of: row.total), "\(row.name)")
            #expect(item.total == row.total, "\(row.name)")
        case (.missing, let received?):
            #expect(seen == .interrupted(received: received, of: row.total), "\(row.name)")
            #expect(item.total == row.total, "\(row.name)")
        default: #expect(seen == .missing, "\(row.name)")
        }
    }

    // MARK: Cached

    private func cached(_ origin: ScriptedOrigin, _ daemon: DaemonFixture) async throws -> [Row] {
        let kinds: [(name: String, headers: HeaderFields)] = [
            ("fresh", ["Cache-Control": "max-age=600"]), ("stale", ["Cache-Control": "max-age=0"]),
            ("strict", ["Cache-Control": "max-age=0, must-revalidate"]),
            ("heuristic", ["Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"]),
            ("pinned", [:]), ("used", [:]), ("confirmed", ["ETag": "\"1\""]), ("refreshed", [:]),
        ]
        for kind in kinds {
            origin.route(
                "/\(kind.name).png", .answer(headers: kind.headers, body: Self.image))
            let url = origin.url("/\(kind.name).png")
            #expect(try await daemon.fetch(url).state == .cached)
        }
        _ = try await daemon.ask(
            call("Pin", [origin.url("/pinned.png")], parameters: #""pinned":true"#))
        _ = try contents(of: try daemon.path(origin.url("/used.png")))
        origin.route("/confirmed.png", .answer(304, headers: ["ETag": "\"1\""]))
        origin.route("/refreshed.png", .answer(body: SampleImage.png(byteCount: 70_000)))
        for name in ["confirmed", "refreshed"] {
            let refresh = call(
                "Fetch", [origin.url("/\(name).png")], parameters: #""refresh":true"#)
            #expect(try await daemon.ask(refresh).items.map(\.state) == [.cached])
        }
        return kinds.map { Row($0.name, origin.url("/\($0.name).png"), .cached) }
    }

    // MARK: Changed by others

    private func changedByOthers(
        _ origin: ScriptedOrigin, _ daemon: DaemonFixture
    ) async throws -> [Row] {
        let source = origin.url("/source.png")
        origin.route("/source.png", .answer(body: Self.image))
        #expect(try await daemon.fetch(source).state == .cached)
        let file = try daemon.path(source)
        var rows: [Row] = []
        func row(
            _ name: String, _ expected: Item.State = .missing, fetched: Bool = true,
            _ change: (String) throws -> Void
        ) async throws {
            let url = origin.url("/\(name).png")
            // A change of a file affects all its names.
            let image = SampleImage.png(byteCount: 200_000, seed: rows.count + 10)
            origin.route("/\(name).png", .answer(body: image))
            if fetched { #expect(try await daemon.fetch(url).state == .cached) }
            try change(try daemon.path(url))
            rows.append(Row(name, url, expected))
        }
        try await row("cut") { truncate($0, 1000) }
        try await row("emptied") { truncate($0, 0) }
        try await row("grown") { path in
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seekToEnd()
            try file.write(contentsOf: [0])
        }
        try await row("overwritten", .cached) { path in
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seek(toOffset: 500)
            try file.write(contentsOf: [1, 2, 3])
        }
        try await row("unlinked") { unlink($0) }
        try await row("unreadable") { chmod($0, 0) }
        try await row("otherOwner") { chown($0, 12345, 12345) }
        try await row("directory") { path in
            unlink(path)
            mkdir(path, 0o700)
        }
        try await row("replacedByASymbolicLink") { path in
            unlink(path)
            symlink(file, path)
        }
        try await row("replacedByAFIFO") { path in
            unlink(path)
            mkfifo(path, 0o600)
        }
        try await row("plainCopy", fetched: false) { path in
            let bytes = Data(try contents(of: file))
            #expect(FileManager.default.createFile(atPath: path, contents: bytes))
        }
        try await row("foreignText", fetched: false) { path in
            _ = FileManager.default.createFile(atPath: path, contents: Data("text".utf8))
        }
        // The record belongs to another name.
        try await row("otherName", fetched: false) { link(file, $0) }
        try await row("damagedRecord") { path in
            let name = "user.cached." + (path as NSString).lastPathComponent.prefix(8)
            try ExtendedAttributes(of: path).set(String(name), "damaged")
        }
        return rows
    }

    // MARK: Gone

    private func gone(_ origin: ScriptedOrigin, _ daemon: DaemonFixture) async throws -> [Row] {
        for (number, name) in ["removed", "damaged", "damagedAndPinned"].enumerated() {
            let image = SampleImage.png(byteCount: 200_000, seed: number + 1)
            origin.route("/\(name).png", .answer(body: image))
            #expect(try await daemon.fetch(origin.url("/\(name).png")).state == .cached)
        }
        _ = try await daemon.ask(call("Remove", [origin.url("/removed.png")]))
        _ = try await daemon.ask(
            call("Pin", [origin.url("/damagedAndPinned.png")], parameters: #""pinned":true"#))
        for name in ["damaged", "damagedAndPinned"] {
            let path = try daemon.path(origin.url("/\(name).png"))
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seek(toOffset: 500)
            try file.write(contentsOf: [1, 2, 3])
            try file.close()
        }
        _ = try await daemon.ask(call("Verify"))
        // A bare open(2) is right, too.
        #expect(access(try daemon.path(origin.url("/damaged.png")), F_OK) != 0)
        try await daemon.waitForState(.cached, of: origin.url("/damagedAndPinned.png"))
        origin.route("/notFound.png", .answer(404))
        origin.route("/refused.png", .answer(503))
        origin.route("/notAnImage.png", .answer(body: Array("text".utf8)))
        let interrupted = origin.url("/interrupted.png")
        let gate = try Gate()
        origin.route(
            "/interrupted.png", .gated(Self.image, after: 150_000, gate, headers: ["ETag": "\"1\""])
        )
        for name in ["notFound", "refused", "notAnImage"] {
            #expect(try await daemon.fetch(origin.url("/\(name).png")).state == .missing)
        }
        let client = try daemon.connect()
        _ = try await client.ask(call("Fetch", [interrupted], flags: [#""more":true"#]))
        _ = try await client.nextItem { $0.received == 150_000 }
        client.shutdown()
        try await daemon.waitForState(.missing, of: interrupted)
        gate.open()
        return [
            Row("never asked", origin.url("/never.png"), .missing),
            Row("removed", origin.url("/removed.png"), .missing),
            Row("damaged", origin.url("/damaged.png"), .missing),
            Row("damaged and pinned", origin.url("/damagedAndPinned.png"), .cached),
            Row("404", origin.url("/notFound.png"), .missing),
            Row("503", origin.url("/refused.png"), .missing),
            Row("not an image", origin.url("/notAnImage.png"), .missing),
            Row("interrupted", interrupted, .missing, received: 150_000, total: 200_000),
        ]
    }

    // MARK: In flight

    private func inFlight(
        _ origin: ScriptedOrigin, _ daemon: DaemonFixture, _ gate: Gate
    ) async throws -> [Row] {
        let small = SampleImage.png(byteCount: 60_000)
        let scripts: [(name: String, received: Int, total: Int?, script: OriginScript)] = [
            (
                "with a validator", 100_000, 200_000,
                .gated(Self.image, after: 100_000, gate, headers: ["ETag": "\"1\""])
            ),
            ("without a validator", 100_000, 200_000, .gated(Self.image, after: 100_000, gate)),
            ("small", 30_000, 60_000, .gated(small, after: 30_000, gate)),
            (
                "chunked", 100_000, nil,
                [
                    .head(200, ["Transfer-Encoding": "chunked"]),
                    .chunk(Array(Self.image[..<100_000])), .wait(gate),
                    .chunk(Array(Self.image[100_000...])), .chunk([]),
                ]
            ),
            (
                "no-store", 100_000, 200_000,
                .gated(Self.image, after: 100_000, gate, headers: ["Cache-Control": "no-store"])
            ),
        ]
        var rows: [Row] = []
        for (number, (name, received, total, script)) in scripts.enumerated() {
            let path = "/flight\(number).png"
            let url = origin.url(path)
            origin.route(path, script)
            let client = try daemon.connect()
            try await client.send(call("Fetch", [url]) + "\0")
            let file = try daemon.path(url)
            try await waitUntil("\(name) to be in flight") {
                PlainReader.state(ofPath: file) == .inFlight(received: received, of: total)
            }
            rows.append(Row(name, url, .inFlight, received: received, total: total))
        }
        return rows
    }

    /// The directory does not show a download that has no file yet, as its documentation says.
    @Test func aDownloadWithoutBytesLooksMissing() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/head.png", .gated(Self.image, after: 0, gate))
            origin.route("/retried.png", .answer(503, headers: ["Retry-After": "60"]))
            let daemon = try await DaemonFixture.start(
                environment: ["CACHED_ATTEMPTS": "2"], in: scope)
            for name in ["head", "retried"] {
                let url = origin.url("/\(name).png")
                let client = try daemon.connect()
                try await client.send(call("Fetch", [url]) + "\0")
                try await origin.waitForRequest("/\(name).png")
                #expect(try await daemon.status(url).state == .inFlight)
                #expect(PlainReader.state(ofPath: try daemon.path(url)) == .missing)
            }
            gate.open()
        }
    }
}

import CacheKey
import CacheWire
import TestSupport
import Testing

/// `List` with a filter: by URL, host and state, as items or as keys.
@Suite("Filtered lists", .timeLimit(.minutes(5)))
struct ListFilterTests {
    private func urls(_ items: [Item]) -> [String] { items.map(\.url).sorted() }

    @Test func entriesAreFilteredByURLAndState() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png()
            origin.route("/old.png", .answer(headers: ["Cache-Control": "max-age=0"], body: image))
            for path in ["/a/1.png", "/a/2.png", "/b/1.png"] {
                origin.route(path, .answer(headers: ["Cache-Control": "max-age=600"], body: image))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let all = ["/a/1.png", "/a/2.png", "/b/1.png", "/old.png"].map { origin.url($0) }
            for url in all { #expect(try await daemon.fetch(url).state == .cached) }
            _ = try await daemon.ask(call("Pin", [all[2]], parameters: #""pinned":true"#))
            let connection = try daemon.connect()
            func list(_ parameters: String) async throws -> [String] {
                let reply = try await connection.ask(call("List", parameters: parameters))
                #expect(reply.parameters?.after == nil)
                return urls(reply.items)
            }
            #expect(try await list(#""prefix":\#(quoted(origin.url("/a/")))"#) == [all[0], all[1]])
            #expect(try await list(#""host":"LOCALHOST""#) == [])
            #expect(try await list(#""host":"127.0.0.1""#) == all)
            #expect(try await list(#""state":"pinned""#) == [all[2]])
            #expect(try await list(#""state":"stale""#) == [all[3]])
            #expect(try await list(#""state":"fresh","host":"127.0.0.1""#) == Array(all[..<3]))
            #expect(try await list(#""state":"inFlight""#) == [])
        }
    }

    @Test func derivedImagesCanBeLeftOut() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            // One to be made smaller, and one that is as small, whose file is that of its original.
            let sizes = ["/large.png": 400, "/small.png": 20, "/exact.png": 128]
            for (path, size) in sizes {
                origin.route(
                    path,
                    .answer(
                        headers: ["Cache-Control": "max-age=600"],
                        body: SampleImage.png(width: size, height: size / 2, seed: size)))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let originals = sizes.keys.map { origin.url($0) }.sorted()
            for url in originals + originals.map({ $0 + "#side=128" }) {
                #expect(try await daemon.fetch(url).state == .cached)
            }
            let connection = try daemon.connect()
            let all = try await connection.ask(call("List"))
            #expect(all.items.count == 6)
            let listed = try await connection.ask(call("List", parameters: #""originals":true"#))
            #expect(urls(listed.items) == originals)
            let host = #""originals":true,"host":"127.0.0.1""#
            #expect(
                try await urls(connection.ask(call("List", parameters: host)).items) == originals)
            let keys = try await connection.ask(
                call("List", parameters: #""originals":true,"keysOnly":true"#))
            #expect(keys.parameters?.keys?.count == 3)
        }
    }

    @Test func downloadsAreListedByKeyInPages() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            var wanted: [(url: String, key: CacheKey)] = []
            for path in (0..<5).map({ "/\($0).png" }) {
                origin.route(path, .gated(SampleImage.png(byteCount: 9000), after: 3000, gate))
                wanted.append((origin.url(path), CacheKey(try CacheURL(origin.url(path)))))
            }
            wanted.sort { $0.key < $1.key }
            let daemon = try await DaemonFixture.start(in: scope)
            let fetch = try daemon.connect()
            try await fetch.send(call("Fetch", wanted.map(\.url)) + "\0")
            try await gate.reached(count: 5)
            let connection = try daemon.connect()
            let state = #""state":"inFlight""#
            let first = try await connection.ask(call("List", parameters: state, #""limit":3"#))
            #expect(first.items.map(\.url) == wanted[..<3].map(\.url))
            #expect(first.items.allSatisfy { $0.state == .inFlight })
            let after = try #require(first.parameters?.after)
            let rest = try await connection.ask(
                call("List", parameters: state, #""after":\#(quoted(after))"#))
            #expect(rest.items.map(\.url) == wanted[3...].map(\.url))
            #expect(rest.parameters?.after == nil)
            let keys = try await connection.ask(
                call("List", parameters: state, #""keysOnly":true"#))
            #expect(keys.items == [] && keys.parameters?.keys == wanted.map { "\($0.key)" })
            gate.open()
            #expect(try await fetch.nextReply().items.count == 5)
        }
    }

    @Test func keysComeInPagesOfTheSameOrder() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            for number in 0..<7 {
                let image = SampleImage.png(byteCount: 500 + number)
                origin.route("/\(number).png", .answer(body: image))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            for number in 0..<7 {
                #expect(try await daemon.fetch(origin.url("/\(number).png")).state == .cached)
            }
            let connection = try daemon.connect()
            let items = try await connection.ask(call("List", parameters: #""order":"size""#)).items
            var keys: [String] = []
            var after: String?
            repeat {
                let position = after.map { #","after":\#(quoted($0))"# } ?? ""
                let parameters = #""order":"size","keysOnly":true,"limit":3"# + position
                let page = try await connection.ask(call("List", parameters: parameters))
                keys += page.parameters?.keys ?? []
                after = page.parameters?.after
            } while after != nil
            #expect(keys == items.map(\.key) && keys.count == 7)
        }
    }

    @Test(arguments: [
        (#""state":"gone""#, "state", "cached, inFlight, fresh, stale, pinned"),
        (#""keysonly":true"#, "keysonly", "keysOnly"), (#""limit":0"#, "limit", "greater than 0"),
        (#""state":"inFlight","after":"size/1/x""#, "after", "order"),
    ])
    func aWrongFilterIsNamedWithWhatIsAllowed(
        parameters: String, name: String, hint: String
    ) async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let reply = try await daemon.ask(call("List", parameters: parameters))
            #expect(reply.error == "org.varlink.service.InvalidParameter")
            #expect(reply.parameters?.parameter == name)
            #expect(reply.reason?.contains(hint) == true)
        }
    }
}

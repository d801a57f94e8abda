import CacheWire
import Glibc
import TestSupport
import Testing

/// Bad input gets a clear answer and does no harm: URLs, variables, and responses of origins.
@Suite("Bad input", .serialized, .timeLimit(.minutes(5)))
struct BadInputTests {
    /// A repaired value would be another path.
    @Test(arguments: ["cached", "cachectl name --path http://a/"])
    func anEnvironmentVariableThatIsNotUTF8IsRefused(command: String) async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let program = command.split(separator: " ")
            let output = try await run(
                "sh",
                [
                    "-c", #"CACHED_DIRECTORY=$(printf '%s/\377' "$HOME") exec "$@""#, "sh",
                    BuiltProducts.program(String(program[0])),
                ] + program.dropFirst().map(String.init),
                environment: minimalEnvironment(["HOME": home.path]))
            #expect(output.status == .exited(program[0] == "cached" ? 78 : 64))
            #expect(output.errorText.contains("CACHED_DIRECTORY is not UTF-8"))
            #expect(try home.names().isEmpty)
        }
    }

    private static let longest = "http://a.example/" + String(repeating: "x", count: 8192 - 17)

    private static let bad = [
        "nonsense", "", "//a.example/", "http:", "http://", "http:///a.png",
        "ftp://a.example/a.png", "file:///etc/passwd", "data:image/png;base64,AAAA",
        "javascript:1", longest + "x", "http://a.exa mple/a.png", " http://a.example/",
        "http://a.example/\n", "http://a.example/\u{7F}", "http://a.example/\u{1}",
        "http://me@a.example/", "http://me:secret@a.example/a.png", "http://a.example/a.png#top",
        "http://a.example:http/", "http://a.example:99999/", "http://[::1/a.png",
    ]

    /// Host names are UTF-8 in every locale. RFC 5891; RFC 6761 §6.3
    @Test(arguments: ["bücher.localhost", "例え.LOCALHOST", "b%C3%BCcher.localhost"])
    func hostNamesCanBeNonASCII(host: String) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            let url = "http://\(host):\(origin.port)/a.png"
            #expect(try await daemon.fetch(url).state == .cached)
            let asked = try #require(origin.requests().first?.headers["Host"])
            #expect(asked.hasPrefix("xn--"), "\(asked)")
        }
    }

    @Test func aBadURLFailsAloneAndTheOthersAreAnswered() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let good = origin.url("/a.png")
            let urls = Self.bad.flatMap { [$0, good] }
            let daemon = try await DaemonFixture.start(in: scope)
            for method in ["Fetch", "Status"] {
                for details in ["", #","details":true"#] where details == "" || method == "Status" {
                    let list = urls.map(quoted).joined(separator: ",")
                    let items = try await daemon.ask(
                        call(method, parameters: #""urls":[\#(list)]\#(details)"#)
                    ).items
                    #expect(items.map(\.url) == urls)
                    for item in items where item.url != good {
                        #expect(item.state == .missing, "\(item.url)")
                        #expect(item.failure?.kind == "invalidURL", "\(item.url)")
                        #expect(item.failure?.message.isEmpty == false, "\(item.url)")
                    }
                    let others = items.filter { $0.url == good }
                    #expect(others.allSatisfy { $0.state == .cached && $0.failure == nil })
                }
            }
            #expect(origin.requests().count == 1)
            #expect(try daemon.names(excluding: []).count == 1)
        }
    }

    /// A repaired argument would be the name of another URL.
    @Test func anArgumentThatIsNotUTF8IsRefused() async throws {
        for (program, word, status) in [
            ("cachectl", "name", 65), ("cached", "--directory", 78),
        ] as [(String, String, Int32)] {
            let command = #"exec "$1" "$2" "$(printf 'http://a.example/\377.png')""#
            let output = try await run(
                "/bin/sh", ["-c", command, "sh", BuiltProducts.program(program), word],
                environment: minimalEnvironment())
            #expect(output.status == .exited(status))
            #expect(output.errorText.contains("argument 2 is not UTF-8"), "\(output.errorText)")
        }
    }

    @Test func theLongestURLIsAccepted() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let start = "/a.png?"
            let rest = 8192 - origin.url(start).utf8.count
            let target = start + String(repeating: "x", count: rest)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(origin.url(target).utf8.count == 8192)
            let item = try await daemon.fetch(origin.url(target))
            #expect(item.state == .cached, "\(String(describing: item.failure))")
            #expect(origin.requests().map(\.target) == [target])
            // ext4 has no room for it, other file systems have.
            let attributes = try await ExtendedAttributes.all(
                of: try daemon.path(origin.url(target)))
            let stored = try attributes["user.xdg.origin.url"]
            #expect(stored == nil || stored == origin.url(target))
            let list = try await daemon.cachectl("list")
            let expected = stored ?? "\(item.key) (the URL is too long for the file's attributes)"
            #expect(list.lines.last?.hasSuffix(expected) == true, "\(list.lines)")
        }
    }

    @Test func cachectlExitsWith65ForABadURLAndAnswersTheOthers() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let good = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let path = try daemon.path(good)
            let fetch = try await daemon.cachectl("fetch", "ftp://a.example/", good)
            #expect(fetch.status == .exited(65))
            #expect(fetch.lines == [path])
            #expect(fetch.errorText.contains("ftp://a.example/"))
            let status = try await daemon.cachectl("status", good, "nonsense")
            #expect(status.status == .exited(65))
            #expect(
                status.lines == [
                    "cached \(SampleImage.png().count) image/png \(path)", "missing nonsense",
                ])
            #expect(try await daemon.cachectl("info", "nonsense").status == .exited(65))
            #expect(try await daemon.cachectl("watch", "nonsense", "").status == .exited(65))
            #expect(try await daemon.cachectl("remove", "nonsense", good).status == .exited(65))
            #expect(size(at: path) == nil)
        }
    }

    @Test func aHundredThousandURLsInOneCallAreAnswered() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let urls = (0..<100_000).map { "http://a.example/\($0).png" }
            let status = try await daemon.ask(call("Status", urls))
            #expect(status.items.map(\.url) == urls)
            // No process listens on this port, so every fetch fails at once.
            let port = try ReservedPort(in: scope).number
            let few = (0..<2000).map { "http://127.0.0.1:\(port)/\($0).png" }
            let fetch = try await daemon.ask(call("Fetch", few))
            #expect(fetch.items.count == 2000)
            #expect(fetch.items.allSatisfy { $0.failure?.kind == "unreachable" })
            let bad = try await daemon.ask(
                call("Fetch", Array(repeating: "nonsense", count: 100_000)))
            #expect(bad.items.count == 100_000)
        }
    }

    @Test(arguments: [404, 500, 403, 204, 206, 301, 410])
    func anHTTPStatusOtherThan200IsReportedInTheFailure(_ status: Int) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let body = status == 204 ? [] : SampleImage.png()
            origin.route("/a.png", .answer(status, body: body))
            let daemon = try await DaemonFixture.start(in: scope)
            let url = origin.url("/a.png")
            for item in [try await daemon.fetch(url), try await daemon.status(url)] {
                #expect(item.state == .missing)
                #expect(item.failure?.kind == "http")
                #expect(item.failure?.httpStatus == status)
            }
            #expect(try daemon.names(excluding: []).isEmpty)
            let output = try await daemon.cachectl("fetch", url)
            #expect(output.status == .exited(1))
            #expect(output.text.isEmpty)
            #expect(output.errorText.contains("\(status)"))
        }
    }

    @Test func unreachableAndUnknownHostsHaveTheirOwnFailureKinds() async throws {
        try await withTestScope { scope in
            let port = try ReservedPort(in: scope).number
            let daemon = try await DaemonFixture.start(in: scope)
            let refused = "http://127.0.0.1:\(port)/a.png"
            let unknown = "http://no-such-host.invalid/a.png"
            let items = try await daemon.ask(call("Fetch", [refused, unknown])).items
            #expect(items.map(\.failure?.kind) == ["unreachable", "unresolved"])
            #expect(try daemon.names(excluding: []).isEmpty)
        }
    }

    @Test func aConnectionLostBeforeTheResponseIsUnreachable() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/closed.png", [.close])
            origin.route("/reset.png", [.reset])
            origin.route("/junk.png", [.bytes(Array("SSH-2.0-OpenSSH_9.2\r\n\r\n".utf8)), .close])
            let daemon = try await DaemonFixture.start(in: scope)
            for name in ["/closed.png", "/reset.png"] {
                let item = try await daemon.fetch(origin.url(name))
                #expect(item.failure?.kind == "unreachable", "\(name)")
            }
            let junk = try await daemon.fetch(origin.url("/junk.png"))
            #expect(junk.failure?.kind == "protocolError")
        }
    }

    @Test func anHTMLPageIsRefusedUnlessAnythingIsAccepted() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let page = Array("<!DOCTYPE html><html><body>404</body></html>".utf8)
            // The content decides, not the declared type.
            for type in ["text/html", "image/png"] {
                origin.route(
                    "/\(type)", .answer(headers: ["Content-Type": type], body: page))
            }
            let strict = try await DaemonFixture.start(in: scope)
            for type in ["text/html", "image/png"] {
                let item = try await strict.fetch(origin.url("/\(type)"))
                #expect(item.state == .missing)
                #expect(item.failure?.kind == "notAnImage")
            }
            #expect(try strict.names(excluding: []).isEmpty)
            let lenient = try await DaemonFixture.start(
                environment: ["CACHED_ACCEPT": "any"], in: scope)
            let url = origin.url("/text/html")
            #expect(try await lenient.fetch(url).state == .cached)
            #expect(try contents(of: lenient.path(url)) == page)
        }
    }

    @Test func anIncompleteBodyIsNeverPublished() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 20_000)
            let scripts: [(String, OriginScript)] = [
                ("/cut.png", .cut(image, after: 12_000)),
                ("/reset.png", .cut(image, after: 12_000, byReset: true)),
                ("/promising.png", .cut(image, after: 20_000, promising: 20_001)),
                ("/chunked.png", .chunked(Array(image[..<12_000]), ended: false)),
                ("/undelimited.png", .closeDelimited(Array(image[..<12_000]))),
            ]
            for (name, script) in scripts { origin.route(name, script) }
            let daemon = try await DaemonFixture.start(in: scope)
            for (name, _) in scripts {
                let url = origin.url(name)
                let item = try await daemon.fetch(url)
                #expect(item.state == .missing, "\(name)")
                let kinds = ["truncated", "unreachable", "protocolError"]
                #expect(kinds.contains(item.failure?.kind ?? "none"), "\(name)")
                #expect(size(at: try daemon.path(url)) == nil, "\(name)")
                #expect(try await daemon.status(url).state == .missing, "\(name)")
            }
            #expect(try await daemon.metric("entries") == 0)
        }
    }

    @Test func bodiesWithoutALengthArePublishedIfTheImageIsComplete() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 20_000)
            origin.route("/chunked.png", .chunked(image, by: 999))
            origin.route("/undelimited.png", .closeDelimited(image))
            let daemon = try await DaemonFixture.start(in: scope)
            for name in ["/chunked.png", "/undelimited.png"] {
                #expect(try await daemon.fetch(origin.url(name)).state == .cached, "\(name)")
                #expect(try contents(of: daemon.path(origin.url(name))) == image, "\(name)")
            }
        }
    }

    @Test func anEmptyBodyIsRefused() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: []))
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(origin.url("/a.png")).failure?.kind == "notAnImage")
            #expect(try daemon.names(excluding: []).isEmpty)
        }
    }

    @Test func anOversizedImageIsAborted() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let start = SampleImage.png(byteCount: 60_000)
            origin.route("/promised.png", .answer(body: SampleImage.png(byteCount: 60_000)))
            origin.route("/endless.png", .endless(Array(start[..<50_000])))
            let daemon = try await DaemonFixture.start(
                ["--max-image-bytes", "50kB"], in: scope)
            for name in ["/promised.png", "/endless.png"] {
                let item = try await daemon.fetch(origin.url(name))
                #expect(item.failure?.kind == "tooLarge", "\(name)")
            }
            try await origin.waitForOutcome(.abandoned, of: "/endless.png")
            #expect(try daemon.names(excluding: []).isEmpty)
        }
    }

    /// The bytes are those of an image under any Content-Type.
    @Test func aWrongContentEncodingIsIgnored() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route(
                "/a.png", .answer(headers: ["Content-Encoding": "gzip"], body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            let item = try await daemon.fetch(origin.url("/a.png"))
            #expect(item.state == .cached, "\(String(describing: item.failure))")
        }
    }

    @Test func loopbackAddressesAreRefusedUnlessAllowed() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            var options = DaemonFixture.Options()
            options.allowsLoopback = false
            let daemon = try await DaemonFixture.start(options, in: scope)
            for host in [
                "127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0.0.0.0",
                "[::ffff:127.0.0.1]",
            ] {
                let item = try await daemon.fetch(origin.url("/a.png", host: host))
                #expect(item.state == .missing, "\(host)")
                #expect(item.failure?.kind == "addressRefused", "\(host)")
            }
            #expect(origin.connectionsAccepted == 0)
        }
    }

    @Test func aRedirectToARefusedAddressIsNotFollowed() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let inner = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .redirect(to: "http://127.0.0.2:\(inner.port)/a.png"))
            var options = DaemonFixture.Options()
            options.allowsLoopback = false
            options.arguments = ["--allow-network", "127.0.0.1/32"]
            let daemon = try await DaemonFixture.start(options, in: scope)
            let item = try await daemon.fetch(origin.url("/a.png"))
            #expect(item.failure?.kind == "addressRefused")
            #expect(inner.connectionsAccepted == 0)
        }
    }

    @Test func proxyVariablesInTheEnvironmentAreIgnored() async throws {
        try await withTestScope { scope in
            let proxy = try ScriptedOrigin(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(
                environment: ["http_proxy": proxy.url(""), "ALL_PROXY": proxy.url("")], in: scope)
            #expect(try await daemon.fetch(origin.url("/a.png")).state == .cached)
            #expect(proxy.connectionsAccepted == 0)
        }
    }
}

import CacheKey
import CacheWire
import Glibc
import TestSupport
import Testing

/// From a URL to a file: what a person sees, and what lies on the disk meanwhile.
@Suite("Main job", .serialized, .timeLimit(.minutes(5)))
struct FetchTests {
    @Test func anImageGoesFromMissingThroughInFlightToCached() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(width: 40, height: 30, byteCount: 100_000)
            let gate = try Gate()
            origin.route("/a.png", .gated(image, after: 42_000, gate))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)

            let before = try await daemon.cachectl("status", url)
            #expect(before.status == .exited(1))
            #expect(before.text == "missing \(url)\n")

            let fetch = try daemon.startCachectl("fetch", url)
            try await gate.reached()
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", [url], flags: [#""more":true"#]) + "\0")
            _ = try await stream.nextItem { $0.received == 42_000 }
            let during = try await daemon.cachectl("status", url)
            #expect(during.status == .exited(2))
            #expect(during.text == "in-flight 42.0% 42000/100000 \(url)\n")

            gate.open()
            let path = try daemon.path(url)
            #expect(try await fetch.waitForExit() == .success)
            #expect(fetch.text(.standardOutput) == path + "\n")
            #expect(fetch.text(.standardError).isEmpty)
            let after = try await daemon.cachectl("status", url)
            #expect(after.status == .success)
            #expect(after.text == "cached 100000 image/png \(path)\n")
            #expect(try contents(of: path) == image)
            #expect(origin.requests("/a.png").count == 1)
        }
    }

    @Test func thePartialFileGrowsWithTheDownloadAndIsGoneAfterwards() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 90_000)
            let gates = [try Gate(), try Gate()]
            origin.route(
                "/a.png",
                [
                    .head(200, ["Content-Length": "90000"]),
                    .bytes(Array(image[..<20_000])), .wait(gates[0]),
                    .bytes(Array(image[20_000..<70_000])), .wait(gates[1]),
                    .bytes(Array(image[70_000...])),
                ])
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let path = try daemon.path(url)
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", [url], flags: [#""more":true"#]) + "\0")
            for (gate, received) in zip(gates, [20_000, 70_000]) {
                // What is less than 1 % more is not told.
                _ = try await stream.nextItem { ($0.received ?? 0) > received - 900 }
                try await waitUntil("\(received) bytes") { size(at: path + ".part") == received }
                #expect(size(at: path) == nil)
                gate.open()
            }
            #expect(try await stream.lastReply().items.first?.state == .cached)
            #expect(size(at: path) == 90_000)
            #expect(size(at: path + ".part") == nil)
        }
    }

    @Test func theAttributesRecordAnImagesURLTypeAndDigest() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(width: 31, height: 17, byteCount: 5000)
            origin.route("/a.png?v=1", .answer(headers: ["ETag": "\"e1\""], body: image))
            let url = origin.url("/a.png?v=1")
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(url).state == .cached)

            let attributes = ExtendedAttributes(of: try daemon.path(url))
            let record = try recordName(url)
            #expect(
                try attributes.names().sorted()
                    == [
                        record, "user.cached.sha256", "user.mime_type", "user.xdg.origin.url",
                    ].sorted())
            #expect(try attributes["user.xdg.origin.url"] == url)
            #expect(try attributes["user.mime_type"] == "image/png")
            let digest = try await sha256(image)
            #expect(try attributes["user.cached.sha256"] == digest)
            let fields = try #require(try attributes[record]).split(separator: " ")
            #expect(fields.starts(with: ["v1", "size=5000", "type=image/png"]))
            #expect(fields.contains("width=31") && fields.contains("height=17"))
            #expect(fields.contains("etag=\"e1\""))

            let item = try await daemon.status(url, details: true)
            #expect(item.sha256 == digest)
            #expect(item.width == 31 && item.height == 17)
            let shown = try await runSuccessfully(
                "getfattr", ["--absolute-names", "-d", try daemon.path(url)])
            #expect(shown.contains("user.xdg.origin.url=\"\(url)\""))
        }
    }

    @Test func realImagesArriveCompleteWithTypeAndDimensions() async throws {
        try await withTestScope { scope in
            let icons = try RealImages.paths(of: RealImages.icons)
            let backgrounds = try RealImages.paths(of: RealImages.backgrounds)
            let files =
                stride(from: 0, to: icons.count, by: max(icons.count / 100, 1)).map { icons[$0] }
                + backgrounds.filter { (size(at: $0) ?? 0) < 4_000_000 }.prefix(8)
            let nginx = try await Nginx(serving: ["/": "/usr/share"], in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let urls = files.map { nginx.url(percentEncoded($0.dropFirst("/usr/share/".count))) }
            let output = try await daemon.cachectl(
                "fetch", "-", input: Array(urls.joined(separator: "\n").utf8))
            #expect(output.status == .success)
            #expect(output.lines == (try urls.map { try daemon.path($0) }))

            let items = try await daemon.ask(call("Status", urls)).items
            for (item, file) in zip(items, files) {
                let bytes = try contents(of: file)
                let path = try #require(item.path)
                #expect(try contents(of: path) == bytes, "\(file)")
                let isPNG = file.hasSuffix(".png")
                #expect(item.mediaType == (isPNG ? "image/png" : "image/jpeg"), "\(file)")
                #expect((item.width ?? 0) > 0 && (item.height ?? 0) > 0, "\(file)")
                // The first chunk of a PNG is its header (PNG specification, §11.2.2).
                if isPNG {
                    #expect(item.width == bytes[16..<20].reduce(0) { $0 << 8 | Int($1) })
                    #expect(item.height == bytes[20..<24].reduce(0) { $0 << 8 | Int($1) })
                }
            }
        }
    }

    /// A path as a URL has it: of what image files are called, only spaces need it.
    private func percentEncoded(_ path: Substring) -> String {
        path.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "%20")
    }

    @Test func svgIsAcceptedOnlyIfConfigured() async throws {
        try await withTestScope { scope in
            let root = try TemporaryDirectory(in: scope)
            try root.write(
                #"<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><g/></svg>"#,
                to: "a.svg")
            let nginx = try await Nginx(serving: ["/": root.path], in: scope)
            let url = nginx.url("a.svg")
            let strict = try await DaemonFixture.start(in: scope)
            let refused = try await strict.fetch(url)
            #expect(refused.state == .missing)
            #expect(refused.failure?.kind == "notAnImage")
            #expect(try strict.names(besides: []).isEmpty)

            let lenient = try await DaemonFixture.start(
                environment: ["CACHED_ACCEPT": "svg"], in: scope)
            let taken = try await lenient.fetch(url)
            #expect(taken.state == .cached)
            #expect(taken.mediaType == "image/svg+xml")
        }
    }
}

/// Over TLS and HTTP/2, along redirects, and with which words a request goes out.
@Suite("Requests", .serialized, .timeLimit(.minutes(5)))
struct RequestTests {
    @Test func httpsVerifiesAgainstTheConfiguredAuthorityAndSpeaksHTTP2() async throws {
        try await withTestScope { scope in
            let (nginx, authority, image) = try await tlsServer(in: scope)
            let daemon = try await DaemonFixture.start(
                ["--ca-file", authority.certificate], in: scope)
            for host in ["127.0.0.1", "localhost"] {
                let item = try await daemon.fetch(nginx.url("a.png", host: host))
                #expect(item.state == .cached, "\(host): \(String(describing: item.failure))")
                #expect(try contents(of: try #require(item.path)) == image)
            }
            try await nginx.process.waitForLine(
                containing: "GET /a.png 200 HTTP/2.0", on: .standardOutput)
        }
    }

    /// Where Debian, and the libcurl of Debian, have the authorities the system trusts.
    private static let trustStore = "/etc/ssl/certs/ca-certificates.crt"

    @Test(
        .enabled(if: SmallFileSystem.obstacle == nil, "\(SmallFileSystem.obstacle ?? "")"),
        .enabled(if: access(trustStore, F_OK) == 0, "no authorities in \(trustStore)"))
    func theSystemTrustStoreIsUsed() async throws {
        try await withTestScope { scope in
            let (nginx, authority, image) = try await tlsServer(in: scope)
            let home = try TemporaryDirectory(in: scope)
            let socket = home.file("s")
            // To this daemon alone the store is the test's authority. mount_namespaces(7)
            let daemon = try ChildProcess(
                "unshare",
                [
                    "--mount", "sh", "-c",
                    #"mount --bind "$1" "$2" && shift 2 && exec "$@""#, "sh",
                    authority.certificate, Self.trustStore, BuiltProducts.program("cached"),
                    "--directory", home.file("cache"), "--socket", socket,
                    "--allow-network", "127.0.0.0/8",
                ],
                environment: minimalEnvironment(["MEMORY_PRESSURE_WATCH": "/dev/null"]), in: scope)
            try await daemon.waitForSocket(socket)
            let url = nginx.url("a.png")
            let answer = try await offPool {
                try Client(paths: [socket]).call(Methods.Fetch.self, .init(urls: [url]))
            }
            let item = try #require(answer.items.first)
            #expect(item.state == .cached, "\(item)")
            #expect(try contents(of: try #require(item.path)) == image)
            daemon.signal(SIGTERM)
            #expect(try await daemon.waitForExit() == .success)
        }
    }

    @Test func anOriginIsReachedByIPv6() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(everywhere: true, in: scope)
            let image = SampleImage.png(byteCount: 70_000)
            origin.route("/a.png", .answer(body: image))
            let url = origin.url("/a.png", host: "[::1]")
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(url).state == .cached)
            #expect(try contents(of: daemon.path(url)) == image)
            #expect(origin.requests().map { $0.headers["Host"] } == ["[::1]:\(origin.port)"])
        }
    }

    @Test func anUntrustedCertificateIsAFailureOfKindTLS() async throws {
        try await withTestScope { scope in
            let (nginx, _, _) = try await tlsServer(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let item = try await daemon.fetch(nginx.url("a.png"))
            #expect(item.state == .missing)
            #expect(item.failure?.kind == "tls")
            #expect(!nginx.log.contains("GET /a.png"))
        }
    }

    @Test func aCertificateForAnotherHostIsAFailureOfKindTLS() async throws {
        try await withTestScope { scope in
            let (nginx, authority, _) = try await tlsServer(["DNS:other.invalid"], in: scope)
            let daemon = try await DaemonFixture.start(
                ["--ca-file", authority.certificate], in: scope)
            #expect(try await daemon.fetch(nginx.url("a.png")).failure?.kind == "tls")
        }
    }

    @Test func imagesOfOneServerAreDownloadedConcurrently() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 900), after: 100, gate))
            let urls = (0..<6).map { origin.url("/a.png?\($0)") }
            let daemon = try await DaemonFixture.start(in: scope)
            // The last place at a host is for another client.
            let connections = [try daemon.connect(), try daemon.connect()]
            let visible = #""priority":"visible""#
            for (connection, urls) in zip(connections, [urls[..<5], urls[5...]]) {
                try await connection.send(
                    call("Fetch", Array(urls), parameters: visible) + "\0")
            }
            try await gate.reached(count: 6)
            gate.open()
            for connection in connections {
                #expect(try await connection.nextReply().items.allSatisfy { $0.state == .cached })
            }
        }
    }

    @Test func httpsDownloadsShareAConnectionOnlyOverHTTP2() async throws {
        try await withTestScope { scope in
            for http2 in [true, false] {
                let (nginx, authority, _) = try await tlsServer(
                    http2: http2, limitRate: 30_000, in: scope)
                let daemon = try await DaemonFixture.start(
                    ["--ca-file", authority.certificate], in: scope)
                let urls = (0..<4).map { nginx.url("a.png?\($0)") }
                let items = try await daemon.ask(call("Fetch", urls)).items
                #expect(items.map(\.state) == [.cached, .cached, .cached, .cached])
                nginx.process.signal(SIGTERM)
                try await nginx.process.waitForExit()
                let requests = nginx.log.split(separator: "\n").filter { $0.hasPrefix("GET") }
                let connections = Set(requests.compactMap { $0.split(separator: " ").last })
                #expect(requests.count == 4)
                #expect(connections.count == (http2 ? 1 : 4))
            }
        }
    }

    @Test func anHTTP2ServerCanExceedThePerHostLimit() async throws {
        try await withTestScope { scope in
            let (nginx, authority, _) = try await tlsServer(limitRate: 10_000, in: scope)
            let daemon = try await DaemonFixture.start(
                ["--ca-file", authority.certificate], in: scope)
            let urls = (0..<40).map { nginx.url("a.png?\($0)") }
            let connection = try daemon.connect()
            try await connection.send(call("Fetch", urls) + "\0")
            // It is not known before the first answer.
            try await waitUntil("all to be under way") {
                try await daemon.metric("transfersRunning") == 40
            }
            #expect(try await connection.nextReply().items.allSatisfy { $0.state == .cached })
            nginx.process.signal(SIGTERM)
            try await nginx.process.waitForExit()
            let requests = nginx.log.split(separator: "\n").filter { $0.hasPrefix("GET") }
            #expect(requests.count == 40)
            #expect(Set(requests.compactMap { $0.split(separator: " ").last }).count == 1)
        }
    }

    private func tlsServer(
        _ names: [String] = ["DNS:localhost", "IP:127.0.0.1"], http2: Bool = true,
        limitRate: Int? = nil, in scope: TestScope
    ) async throws -> (Nginx, CertificateAuthority, [UInt8]) {
        let root = try TemporaryDirectory(in: scope)
        let image = SampleImage.png(byteCount: 30_000)
        try root.write(image, to: "a.png")
        let authority = try await CertificateAuthority(in: scope)
        let nginx = try await Nginx(
            serving: ["/": root.path], limitRate: limitRate, tls: authority.issue(for: names),
            http2: http2, in: scope)
        return (nginx, authority, image)
    }

    @Test func redirectsAreFollowedEightTimesAndNoMore() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png()
            origin.route("/0", .answer(body: image))
            for hop in 1...9 {
                let status = [301, 302, 303, 307, 308][hop % 5]
                origin.route("/\(hop)", .redirect(status, to: "/\(hop - 1)"))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let eight = try await daemon.fetch(origin.url("/8"))
            #expect(eight.state == .cached)
            // It lies under the name that was asked for.
            #expect(eight.path == (try daemon.path(origin.url("/8"))))
            #expect(try contents(of: daemon.path(origin.url("/8"))) == image)
            #expect(origin.requests("/0").count == 1)
            let nine = try await daemon.fetch(origin.url("/9"))
            #expect(nine.failure?.kind == "redirect")
            #expect(origin.requests("/0").count == 1)
        }
    }

    @Test func aRedirectInACircleFails() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a", .redirect(to: "/b"))
            origin.route("/b", .redirect(to: "/a"))
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(origin.url("/a")).failure?.kind == "redirect")
            #expect(origin.requests().count == 9)
        }
    }

    @Test(arguments: ["ftp://127.0.0.1/a.png", "file:///etc/hostname", "gopher://127.0.0.1/"])
    func aRedirectToAnotherSchemeIsRefused(_ target: String) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a", .redirect(to: target))
            let daemon = try await DaemonFixture.start(in: scope)
            let item = try await daemon.fetch(origin.url("/a"))
            #expect(item.state == .missing)
            #expect(item.failure?.kind == "redirect")
        }
    }

    @Test func requestHeadersDoNotDependOnTheCaller() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(origin.url("/a.png")).state == .cached)
            let request = try #require(origin.requests().first)
            #expect(request.method == "GET")
            #expect(request.headers.names.sorted() == ["accept", "host", "user-agent"])
            #expect(request.headers["Accept"] == "*/*")
            let version = try await daemon.ask(call("org.varlink.service.GetInfo"))
                .parameters?.version
            #expect(request.headers["User-Agent"] == "cached/\(try #require(version))")
            #expect(request.headers["Host"] == "127.0.0.1:\(origin.port)")
        }
    }

    @Test func nonASCIIURLsAreSentEncodedAndNameTheFileByTheirGivenBytes() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/b%C3%A4r.png?q=%E2%82%AC", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            let url = origin.url("/bär.png?q=€")
            let item = try await daemon.fetch(url)
            #expect(item.state == .cached)
            #expect(origin.requests().map(\.target) == ["/b%C3%A4r.png?q=%E2%82%AC"])
            // Python's opinion of the name.
            let name = try await runSuccessfully(
                "/usr/bin/python3",
                ["-c", "import sys, uuid; print(uuid.uuid5(uuid.NAMESPACE_URL, sys.argv[1]))", url])
            #expect(item.key + "\n" == name)
            #expect(try ExtendedAttributes(of: daemon.path(url))["user.xdg.origin.url"] == url)
            // The encoded form is another URL and so another name.
            let encoded = origin.url("/b%C3%A4r.png?q=%E2%82%AC")
            #expect(try await daemon.status(encoded).state == .missing)
        }
    }

    @Test func aConfiguredProxyIsUsedDespiteNoProxyVariables() async throws {
        try await withTestScope { scope in
            let proxy = try ScriptedOrigin(in: scope)
            let url = "http://127.0.0.1:1/a.png"
            proxy.route(url, .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(
                ["--proxy", proxy.url("")],
                environment: ["no_proxy": "127.0.0.1", "NO_PROXY": "*"], in: scope)
            let output = try await daemon.cachectl("fetch", url)
            #expect(output.status == .success, "\(output.errorText)")
            #expect(proxy.requests(url).count == 1)
        }
    }
}

import CacheWire
import Glibc
import TestSupport
import Testing

/// HTTP requests: TLS, HTTP/2, redirects, and the header fields sent.
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

    /// The system's trust store on Debian, for which Debian's libcurl is built.
    private static let trustStore = "/etc/ssl/certs/ca-certificates.crt"

    @Test(
        .enabled(if: SmallFileSystem.obstacle == nil, "\(SmallFileSystem.obstacle ?? "")"),
        .enabled(if: access(trustStore, F_OK) == 0, "\(trustStore) does not exist"))
    func theSystemTrustStoreIsUsed() async throws {
        try await withTestScope { scope in
            let (nginx, authority, image) = try await tlsServer(in: scope)
            let home = try TemporaryDirectory(in: scope)
            let socket = home.file("s")
            // This daemon alone sees the test's authority in place of the trust store.
            // mount_namespaces(7)
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
            // The last slot of a host is reserved for another client.
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
                    http2: http2, limitRate: 10_000, in: scope)
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
            // Whether the server speaks HTTP/2 is known only after its first response.
            try await waitUntil("all downloads to run") {
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

    @Test func twentyRedirectsAreFollowedAndNoMore() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png()
            origin.route("/0", .answer(body: image))
            for hop in 1...21 {
                let status = [301, 302, 303, 307, 308][hop % 5]
                origin.route("/\(hop)", .redirect(status, to: "/\(hop - 1)"))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let twenty = try await daemon.fetch(origin.url("/20"))
            #expect(twenty.state == .cached)
            // The file has the name of the requested URL.
            #expect(twenty.path == (try daemon.path(origin.url("/20"))))
            #expect(try contents(of: daemon.path(origin.url("/20"))) == image)
            #expect(origin.requests("/0").count == 1)
            let tooMany = try await daemon.fetch(origin.url("/21"))
            #expect(tooMany.failure?.kind == "redirect")
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
            #expect(origin.requests().count == 21)
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
            #expect(
                request.headers.names.sorted() == [
                    "accept", "accept-encoding", "host", "user-agent",
                ])
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
            // Python computes the same name.
            let name = try await runSuccessfully(
                "/usr/bin/python3",
                ["-c", "import sys, uuid; print(uuid.uuid5(uuid.NAMESPACE_URL, sys.argv[1]))", url])
            #expect(item.key + "\n" == name)
            let attributes = try await ExtendedAttributes.all(of: daemon.path(url))
            #expect(try attributes["user.xdg.origin.url"] == url)
            // The encoded form is another URL and so has another name.
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

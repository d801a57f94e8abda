import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Downloads of https URLs through a proxy, which opens a tunnel (CONNECT, RFC 9110 §9.3.6).
@Suite("Cache: tunnels", .timeLimit(.minutes(5)))
struct TunnelTests {
    private static let host = "images.test:443"
    private static let address = "images.test:443:93.184.215.14"
    private let image = SampleImage.png(byteCount: 30_000)
    private let url = "https://images.test/a.png"

    /// A cache behind a proxy, and an origin with TLS that the proxy has no route to yet.
    private struct Scene {
        let fixture: CacheFixture
        let nginx: Nginx

        var proxy: ScriptedOrigin { fixture.origin }

        func tunnel(_ headers: HeaderFields = [:]) -> OriginScript {
            [.head(200, headers), .tunnel(port: nginx.port)]
        }

        func fetch(_ url: String) async throws -> Failure? {
            let imageRequest = ImageRequest(try CacheURL(url))
            let waiter = fixture.cache.fetch([imageRequest], FetchOptions())
            return try await fixture.outcome(of: waiter).failures[imageRequest.key]
        }
    }

    private func scene(
        _ resolutions: [String] = [address], certifiedFor name: String = "images.test",
        in scope: TestScope
    ) async throws -> Scene {
        let authority = try await CertificateAuthority(in: scope)
        let root = try TemporaryDirectory(in: scope)
        try root.write(image, to: "a.png")
        let nginx = try await Nginx(
            serving: ["/": root.path], tls: authority.issue(for: ["DNS:\(name)"]),
            extra: "location = /away.png { return 302 https://inside.test/b.png; }", in: scope)
        let proxy = try ScriptedOrigin(in: scope)
        let fixture = try CacheFixture(in: scope, origin: proxy) { settings in
            settings.transfers.proxy = ProxyChoice(proxy.url(""))
            settings.transfers.addressPolicy = AddressPolicy()
            settings.transfers.resolutions = resolutions
            settings.transfers.certificateFile = authority.certificate
        }
        return Scene(fixture: fixture, nginx: nginx)
    }

    @Test func anImageComesThroughATunnel() async throws {
        try await withTestScope { scope in
            let scene = try await scene(in: scope)
            scene.proxy.route(Self.host, scene.tunnel())
            #expect(try await scene.fetch(url) == nil)
            let path = scene.fixture.cache.path(of: CacheKey(try CacheURL(url)))
            #expect(try contents(of: path) == image)
            let requests = scene.proxy.requests()
            #expect(requests.map(\.method) == ["CONNECT"])
            #expect(requests.map(\.target) == [Self.host])
            for name in ["Authorization", "Proxy-Authorization", "Cookie"] {
                #expect(requests.first?.headers[name] == nil, "\(name)")
            }
            try await scene.nginx.process.waitForLine(
                containing: "GET /a.png 200 HTTP/2.0", on: .standardOutput)
        }
    }

    @Test(arguments: [
        ("https://images.test/a.png", "images.test:443:10.1.2.3"),
        ("https://images.test/a.png", "images.test:443:93.184.215.14,127.0.0.1"),
        ("https://127.0.0.1/a.png", address), ("https://[::1]:81/a.png", address),
    ])
    func noTunnelIsRequestedToAForbiddenAddress(url: String, resolution: String) async throws {
        try await withTestScope { scope in
            let scene = try await scene([resolution], in: scope)
            #expect(try await scene.fetch(url)?.kind == .addressRefused)
            #expect(scene.proxy.connectionsAccepted == 0)
        }
    }

    @Test func noRedirectLeadsToAForbiddenAddress() async throws {
        try await withTestScope { scope in
            let scene = try await scene([Self.address, "inside.test:443:192.168.1.1"], in: scope)
            scene.proxy.route(Self.host, scene.tunnel())
            let failure = try await scene.fetch("https://images.test/away.png")
            #expect(failure?.kind == .addressRefused)
            #expect(scene.proxy.requests().map(\.target) == [Self.host])
        }
    }

    @Test(arguments: [403, 407, 416, 502])
    func theFailureNamesTheProxyIfItRefusesTheTunnel(status: Int) async throws {
        try await withTestScope { scope in
            let scene = try await scene(in: scope)
            scene.proxy.route(
                Self.host,
                .answer(
                    status, headers: ["Proxy-Authenticate": "Basic realm=\"p\""], body: image))
            let failure = try await scene.fetch(url)
            #expect(failure?.kind == .http)
            #expect(failure?.httpStatus == status)
            #expect(failure?.message.contains("the proxy") == true, "\(failure?.message ?? "")")
            #expect(failure?.message.contains("\(status)") == true, "\(failure?.message ?? "")")
            // The proxy is asked once, and not again with credentials.
            #expect(scene.proxy.requests().count == 1)
            #expect(scene.proxy.requests().first?.headers["Proxy-Authorization"] == nil)
            #expect(scene.fixture.cache.statistics().entries == 0)
        }
    }

    /// libcurl would read the body byte by byte and do nothing else.
    @Test func anEndlessRefusalOfTheProxyIsCutOff() async throws {
        try await withTestScope { scope in
            let scene = try await scene(in: scope)
            let zeros = [UInt8](repeating: 0, count: 65536)
            scene.proxy.route(
                Self.host,
                [.head(407, ["Content-Length": "1000000000000"]), .endless(zeros)])
            let failure = try await scene.fetch(url)
            #expect(failure?.kind == .http)
            #expect(failure?.httpStatus == 407)
            try await scene.proxy.waitForOutcome(.abandoned, of: Self.host)
        }
    }

    /// Only the origin can say that an image is gone.
    @Test(arguments: [404, 410])
    func a404OfTheProxyRemovesNoEntry(status: Int) async throws {
        try await withTestScope { scope in
            let scene = try await scene(in: scope)
            scene.proxy.route(Self.host, scene.tunnel())
            #expect(try await scene.fetch(url) == nil)
            scene.fixture.cache.closeIdleConnections()
            scene.proxy.route(Self.host, .answer(status))
            let imageRequest = ImageRequest(try CacheURL(url))
            try await waitUntil("the old tunnel to be closed") {
                let waiter = scene.fixture.cache.fetch(
                    [imageRequest], FetchOptions(isRefresh: true))
                let failures = try await scene.fixture.outcome(of: waiter).failures
                return failures[imageRequest.key]?.httpStatus == status
            }
            #expect(scene.fixture.cache.lookup([imageRequest.key]).first?.isCached == true)
        }
    }

    @Test func headersOfTheTunnelAreNotThoseOfTheImage() async throws {
        try await withTestScope { scope in
            let scene = try await scene(in: scope)
            scene.proxy.route(
                Self.host,
                scene.tunnel(["X-Via": "proxy", "Content-Length": "999999999999999"]))
            #expect(try await scene.fetch(url) == nil)
        }
    }

    @Test func aTunnelToAnotherHostIsRefused() async throws {
        try await withTestScope { scope in
            let scene = try await scene(certifiedFor: "other.test", in: scope)
            scene.proxy.route(Self.host, scene.tunnel())
            let failure = try await scene.fetch(url)
            #expect(failure?.kind == .tls)
            #expect(failure?.message == "the server's certificate is not for this host's name")
            #expect(!scene.nginx.log.contains("GET"))
        }
    }
}

import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Downloads through a proxy, whose requests have an absolute URL (RFC 9112 §3.2.2).
@Suite("Cache: proxies", .timeLimit(.minutes(5)))
struct ProxyTests {
    private let image = SampleImage.png(byteCount: 3000)
    private let url = "http://images.test/a.png"

    /// A cache that sends all requests to a proxy. The `resolutions` are the addresses of names.
    private func fixture(
        _ resolutions: [String], allowing ranges: [AddressRange] = [], in scope: TestScope
    ) throws -> CacheFixture {
        let proxy = try ScriptedOrigin(in: scope)
        return try CacheFixture(in: scope, origin: proxy) { settings in
            settings.transfers.proxy = ProxyChoice(proxy.url(""))
            settings.transfers.addressPolicy = AddressPolicy(allowing: ranges)
            settings.transfers.resolutions = resolutions
        }
    }

    private func fetch(_ url: String, _ fixture: CacheFixture) async throws -> Failure? {
        let imageRequest = ImageRequest(try CacheURL(url))
        let waiter = fixture.cache.fetch([imageRequest], FetchOptions())
        return try await fixture.outcome(of: waiter).failures[imageRequest.key]
    }

    @Test func theProxyIsAskedAndItsAddressNeedsNoPermission() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(["images.test:80:93.184.215.14"], in: scope)
            fixture.origin.route(url, .answer(body: image))
            #expect(try await fetch(url, fixture) == nil)
            #expect(fixture.origin.requests(url).count == 1)
        }
    }

    @Test(arguments: [
        ("http://images.test/a.png", "images.test:80:10.1.2.3"),
        ("http://images.test/a.png", "images.test:80:93.184.215.14,127.0.0.1"),
        ("http://127.0.0.1:81/a.png", "unused.test:80:1.1.1.1"),
        ("http://[::1]/a.png", "unused.test:80:1.1.1.1"),
        // Names that do not resolve here, but that some proxies take for addresses.
        ("http://10.0.0.1./a.png", "unused.test:80:1.1.1.1"),
        ("http://0x7f.1../a.png", "unused.test:80:1.1.1.1"),
        ("http://169.254.169.254%2e/a.png", "unused.test:80:1.1.1.1"),
        ("http://a.LOCALHOST./a.png", "unused.test:80:1.1.1.1"),
    ])
    func aForbiddenAddressIsNotRequestedFromTheProxy(url: String, resolution: String) async throws {
        try await withTestScope { scope in
            let fixture = try fixture([resolution], in: scope)
            #expect(try await fetch(url, fixture)?.kind == .addressRefused)
            #expect(fixture.origin.requests().isEmpty)
        }
    }

    @Test func theFailureNamesTheProxyIfItsCertificateIsNotTrusted() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let front = try await TLSTerminator(authority.issue(), to: origin, in: scope)
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.transfers.proxy = ProxyChoice(front.url(""))
            }
            let failures = try await fixture.fetch("/a.png").failures.values
            #expect(failures.map(\.kind) == [.tls])
            #expect(failures.allSatisfy { $0.message.contains("proxy's certificate") })
        }
    }

    @Test func theFailureNamesTheProxyIfItIsNotRunning() async throws {
        try await withTestScope { scope in
            let port = try ReservedPort(in: scope).number
            let fixture = try CacheFixture(in: scope, origin: ScriptedOrigin(in: scope)) {
                $0.transfers.proxy = ProxyChoice("http://127.0.0.1:\(port)")
                $0.transfers.resolutions = ["images.test:80:93.184.215.14"]
            }
            let failure = try await fetch(url, fixture)
            #expect(failure?.kind == .unreachable)
            #expect(failure?.message.contains("the proxy could be made") == true)
        }
    }

    @Test func theTargetOfEachRedirectIsLookedUp() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(
                [
                    "images.test:80:93.184.215.14", "other.test:80:93.184.215.15",
                    "inside.test:80:192.168.1.1",
                ],
                in: scope)
            fixture.origin.route(url, .redirect(to: "http://other.test/b.png"))
            fixture.origin.route("http://other.test/b.png", .answer(body: image))
            #expect(try await fetch(url, fixture) == nil)
            let second = "http://images.test/c.png"
            fixture.origin.route(second, .redirect(to: "http://inside.test/b.png"))
            #expect(try await fetch(second, fixture)?.kind == .addressRefused)
            #expect(fixture.origin.requests("http://inside.test/b.png").isEmpty)
        }
    }

    @Test func a304WithALocationIsNoRedirect() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(["images.test:80:93.184.215.14"], in: scope)
            fixture.origin.route(
                url,
                .answer(headers: ["Cache-Control": "max-age=0", "ETag": "\"1\""], body: image))
            #expect(try await fetch(url, fixture) == nil)
            let other = "http://images.test/b.png"
            fixture.origin.route(url, [.head(304, ["Location": other])])
            fixture.origin.route(other, .answer(body: SampleImage.png(byteCount: 4000)))
            #expect(try await fetch(url, fixture) == nil)
            #expect(fixture.origin.requests(url).count == 2)
            #expect(fixture.origin.requests(other).isEmpty)
        }
    }

    @Test func twentyRedirectsAreFollowed() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(["images.test:80:93.184.215.14"], in: scope)
            fixture.origin.route(url, .redirect(to: url))
            #expect(try await fetch(url, fixture)?.kind == .redirect)
            #expect(fixture.origin.requests(url).count == 21)
        }
    }

    /// The limit applies to each body, as without a proxy.
    @Test func theBodiesOfRedirectsAreLimitedOneByOne() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(["images.test:80:93.184.215.14"], in: scope)
            let body = [UInt8](repeating: 1, count: 20_000)
            for hop in 0..<5 {
                fixture.origin.route(
                    hop == 0 ? url : "http://images.test/\(hop).png",
                    .answer(302, headers: ["Location": "/\(hop + 1).png"], body: body))
            }
            fixture.origin.route("http://images.test/5.png", .answer(body: image))
            #expect(try await fetch(url, fixture) == nil)
        }
    }

    @Test(arguments: ["file:///etc/passwd", "http://user:word@images.test/b.png"])
    func aRedirectToAnotherSchemeOrWithCredentialsIsRefused(target: String) async throws {
        try await withTestScope { scope in
            let fixture = try fixture(["images.test:80:93.184.215.14"], in: scope)
            fixture.origin.route(url, .redirect(to: target))
            #expect(try await fetch(url, fixture)?.kind == .redirect)
            #expect(fixture.origin.requests().count == 1)
        }
    }
}

import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Forbidden addresses in every spelling. A server listens on all addresses of this machine and gets no
/// connection.
@Suite("Forbidden addresses", .timeLimit(.minutes(5)))
struct ForbiddenAddressTests {
    /// Spellings of 127.0.0.2, as libcurl, inet_aton(3) or getaddrinfo(3) take them.
    private static let loopback = [
        "127.0.0.2", "127.0.2", "127.2", "2130706434", "0x7f000002", "0X7F000002", "017700000002",
        "0x7f.0.0.2", "0x7f.2", "0177.0.0.2", "0177.2", "0x7f.0x000002", "127.0x2", "127.0.0.02",
        "0x7F.0X0.0x0.0x2", "127.00.000.2", "[::ffff:127.0.0.2]",
        "[::ffff:7f00:2]", "[::FFFF:7F00:0002]", "[0:0:0:0:0:ffff:127.0.0.2]",
        "[0000:0000:0000:0000:0000:ffff:7f00:0002]", "[::127.0.0.2]", "[::7f00:2]",
        "[::ffff:0:127.0.0.2]", "[64:ff9b::127.0.0.2]", "[64:ff9b::7f00:2]",
        "[64:ff9b:1::7f00:2]", "[2002:7f00:2::]", "[2002:7f00:2::1]",
    ]

    /// Other addresses of this machine, or of networks that are not public.
    private static let others = [
        "0.0.0.0", "0", "0x0", "00", "0.0", "0.0.0", "[::]", "[0::0]", "[::0.0.0.0]",
        "[::ffff:0.0.0.0]", "[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::0.0.0.1]",
        "10.0.0.1", "012.0.0.1", "0xa000001", "10.1", "172.16.0.1", "192.168.0.1", "192.168.1",
        "0xc0a80001", "169.254.169.254", "2852039166", "0xa9fea9fe", "[::ffff:169.254.169.254]",
        "100.64.0.1", "198.18.0.1", "192.0.2.1", "224.0.0.1", "255.255.255.255", "4294967295",
        "[fe80::1]", "[fe80::1%25lo]", "[::1%25lo]", "[fec0::1]", "[fc00::1]", "[fd00::1]",
        "[ff02::1]", "[2001:db8::1]",
    ]

    /// Names of this machine that need no DNS.
    private static let names = [
        "localhost", "LOCALHOST", "LocalHost", "a.localhost", "a.b.localhost",
    ]

    /// Text that only looks like an address, or hides one. However it is parsed, no connection is made.
    private static let odd = [
        "１２７.０.０.２", "①②⑦.⓪.⓪.②", "127。0。0。2", "127．0．0．2", "127｡0｡0｡2",
        "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "%31%32%37.0.0.2", "127.0.0.2%2e", "127.0.0.2%00.example",
        "example.invalid@127.0.0.2", "example.invalid:80@127.0.0.2", "@127.0.0.2",
        "example.invalid%40127.0.0.2", "127.0.0.2\\@example.invalid",
        "example.invalid\\@127.0.0.2", "127.0.0.2.", "127.0.0.2..", "localhost.", "a.b.localhost.",
        "[127.0.0.2]", "[::ffff:127.0.0.2",
        "127.1.1.1.1",
        "0x7f00000002", "040000000000", "[::1%lo]", "[v1.127.0.0.2]",
    ]

    @Test func everySpellingIsRefusedBeforeAConnectionIsMade() async throws {
        try await withTestScope { scope in
            let listener = try ScriptedOrigin(everywhere: true, in: scope)
            let fixture = try CacheFixture(in: scope) {
                $0.transfers.addressPolicy = AddressPolicy()
            }
            let hosts = Self.loopback + Self.others + Self.names
            #expect(hosts.count >= 60)
            for host in hosts {
                let imageRequest = ImageRequest(try CacheURL(listener.url("/a.png", host: host)))
                let waiter = fixture.cache.fetch([imageRequest], FetchOptions())
                let failure = try await fixture.outcome(of: waiter).failures[imageRequest.key]
                #expect(
                    failure?.kind == .addressRefused, "\(host): \(failure?.message ?? "fetched")")
            }
            #expect(listener.connectionsAccepted == 0)
        }
    }

    @Test func aHiddenAddressIsNotConnectedTo() async throws {
        try await withTestScope { scope in
            let listener = try ScriptedOrigin(everywhere: true, in: scope)
            let fixture = try CacheFixture(in: scope) {
                $0.transfers.addressPolicy = AddressPolicy()
            }
            for host in Self.odd {
                guard let url = try? CacheURL(listener.url("/a.png", host: host)) else { continue }
                let imageRequest = ImageRequest(url)
                let waiter = fixture.cache.fetch([imageRequest], FetchOptions())
                #expect(try await !fixture.outcome(of: waiter).failures.isEmpty, "\(host)")
            }
            #expect(listener.connectionsAccepted == 0)
        }
    }

    @Test func noRedirectLeadsToAForbiddenAddress() async throws {
        try await withTestScope { scope in
            let listener = try ScriptedOrigin(everywhere: true, in: scope)
            // Only the origin itself is permitted, which these names may lead to.
            let names = ["localhost.", "a.b.localhost."]
            let fixture = try CacheFixture(in: scope) { settings in
                let origin = AddressRange("127.0.0.1").map { [$0] } ?? []
                settings.transfers.addressPolicy = AddressPolicy(allowing: origin)
            }
            let hosts = Self.loopback + Self.others + Self.odd.filter { !names.contains($0) }
            for (number, host) in hosts.enumerated() {
                fixture.origin.route(
                    "/\(number).png", .redirect(to: listener.url("/a.png", host: host)))
                let failures = try await fixture.fetch("/\(number).png").failures
                let expected: Set<Failure.Kind> =
                    Self.odd.contains(host)
                    ? Set(failures.values.map(\.kind)) : [.addressRefused]
                #expect(
                    Set(failures.values.map(\.kind)) == expected && !failures.isEmpty, "\(host)")
            }
            #expect(listener.connectionsAccepted == 0)
        }
    }

    @Test func aNameThatChangesItsAddressIsCheckedAgain() async throws {
        try await withTestScope { scope in
            let listener = try ScriptedOrigin(everywhere: true, in: scope)
            let fixture = try CacheFixture(in: scope) { settings in
                let origin = AddressRange("127.0.0.1").map { [$0] } ?? []
                settings.transfers.addressPolicy = AddressPolicy(allowing: origin)
            }
            let (port, inner) = (fixture.origin.port, listener.port)
            let cache = try CacheFixture(in: scope) { settings in
                let origin = AddressRange("127.0.0.1").map { [$0] } ?? []
                settings.transfers.addressPolicy = AddressPolicy(allowing: origin)
                // The first name is permitted at the first hop, but not at the next one. The second has several
                // addresses, and the first of them is permitted but does not answer.
                settings.transfers.resolutions = [
                    "rebinding.test:\(port):127.0.0.1", "rebinding.test:\(inner):127.0.0.2",
                    "both.test:\(inner):127.0.0.2,[::1]", "mapped.test:\(inner):[::ffff:127.0.0.2]",
                ]
            }
            fixture.origin.route("/whole.png", .answer(body: SampleImage.png()))
            fixture.origin.route(
                "/a.png", .redirect(to: "http://rebinding.test:\(inner)/a.png"))
            let urls: [(String, Failure.Kind?)] = [
                ("http://rebinding.test:\(port)/whole.png", nil),
                ("http://rebinding.test:\(port)/a.png", .addressRefused),
                ("http://rebinding.test:\(inner)/a.png", .addressRefused),
                ("http://both.test:\(inner)/a.png", .addressRefused),
                ("http://mapped.test:\(inner)/a.png", .addressRefused),
            ]
            for (text, kind) in urls {
                let imageRequest = ImageRequest(try CacheURL(text))
                let waiter = cache.cache.fetch([imageRequest], FetchOptions())
                let failure = try await cache.outcome(of: waiter).failures[imageRequest.key]
                #expect(failure?.kind == kind, "\(text): \(failure?.message ?? "fetched")")
            }
            #expect(listener.connectionsAccepted == 0)
        }
    }

    /// If one address is permitted but does not answer, the failure is about it and not about the refused one.
    @Test(arguments: ["127.0.0.1,[::1]", "[::1],127.0.0.1"])
    func aRefusedAddressDoesNotHideThatAnotherOneIsDown(addresses: String) async throws {
        try await withTestScope { scope in
            let port: Int = try await withTestScope { scope in try ScriptedOrigin(in: scope).port }
            let fixture = try CacheFixture(in: scope) {
                $0.transfers.resolutions = ["two.test:\(port):\(addresses)"]
            }
            let imageRequest = ImageRequest(try CacheURL("http://two.test:\(port)/a.png"))
            let waiter = fixture.cache.fetch([imageRequest], FetchOptions())
            let failure = try await fixture.outcome(of: waiter).failures[imageRequest.key]
            #expect(failure?.kind == .unreachable, "\(failure?.message ?? "fetched")")
        }
    }
}

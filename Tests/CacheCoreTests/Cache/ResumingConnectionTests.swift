import CacheKey
import Glibc
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Partial downloads that are read again before or after there is a connection for their rest.
@Suite("Cache: resuming and connections", .timeLimit(.minutes(5)))
struct ResumingConnectionTests {
    private let image = ResumingTests.image
    private let half = ResumingTests.half

    /// All requests wait for the first handshake, because it can lead to HTTP/2.
    @Test(arguments: [false, true])
    func manyPartialsFromOneHostAreResumedAtOnce(http2: Bool) async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let root = try TemporaryDirectory(in: scope)
            let names = (0..<8).map { "\($0).png" }
            for name in names { try root.write(image, to: name) }
            let nginx = try await Nginx(
                serving: ["/": root.path], tls: authority.issue(for: ["IP:127.0.0.1"]),
                http2: http2, extra: "etag off; add_header ETag '\"1\"';", in: scope)
            let fixture = try CacheFixture(in: scope) {
                $0.transfers.certificateFile = authority.certificate
            }
            let imageRequests = try names.map { ImageRequest(try CacheURL(nginx.url($0))) }
            for imageRequest in imageRequests {
                try fixture.leavePartial(of: imageRequest.key, image[..<half], of: image.count)
            }
            let waiter = fixture.cache.fetch(imageRequests, FetchOptions())
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            for imageRequest in imageRequests {
                #expect(try contents(of: fixture.cache.path(of: imageRequest.key)) == image)
            }
            #expect(fixture.cache.statistics().bytesReceived == names.count * (image.count - half))
        }
    }

    /// The address is looked up first, by a request of its own that never connects.
    @Test func aPartialIsResumedThroughAProxy() async throws {
        try await withTestScope { scope in
            let proxy = try ScriptedOrigin(in: scope)
            let fixture = try CacheFixture(in: scope, origin: proxy) {
                $0.transfers.proxy = ProxyChoice(proxy.url(""))
                $0.transfers.addressPolicy = AddressPolicy()
                $0.transfers.resolutions = ["images.test:80:93.184.215.14"]
            }
            let imageRequest = ImageRequest(try CacheURL("http://images.test/a.png"))
            try fixture.leavePartial(of: imageRequest.key, image[..<half], of: image.count)
            proxy.route(imageRequest.url.string) { .ranged(image, for: $0) }
            let waiter = fixture.cache.fetch([imageRequest], FetchOptions())
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            #expect(proxy.requests().map(\.firstOfRange) == [half])
            #expect(try contents(of: fixture.cache.path(of: imageRequest.key)) == image)
        }
    }

    /// The idle connection has stray data, so it is given up before the request is sent.
    @Test func aPartialIsResumedByANewConnection() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let gates = [try Gate(), try Gate()]
            fixture.origin.route(
                "/small.png",
                OriginScript(
                    OriginScript.answer(body: SampleImage.png()).steps + [
                        .wait(gates[0]),
                        .bytes(Array("HTTP/1.1 408 Timeout\r\nContent-Length: 0\r\n\r\n".utf8)),
                        .wait(gates[1]),
                    ]))
            fixture.origin.route("/a.png") { .ranged(image, for: $0) }
            #expect(try await fixture.fetch("/small.png").failures.isEmpty)
            gates[0].open()
            try await gates[1].reached()
            try fixture.leavePartial("/a.png", image[..<half], of: image.count)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests("/a.png").map(\.firstOfRange) == [half])
            #expect(fixture.origin.connectionsAccepted == 2)
            #expect(try contents(of: fixture.file("/a.png")) == image)
            gates[1].open()
        }
    }

    /// Reading a large partial takes longer than the origin takes to answer.
    @Test(
        arguments: [
            .answer(416, headers: ["Content-Range": "bytes */100"]),
            .answer(
                206,
                headers: ["Content-Range": "bytes 33554432-33554441/40000000", "ETag": "\"2\""],
                body: Array(0..<10)),
            .redirect(to: "/elsewhere.png"),
        ] as [OriginScript])
    func aUselessResponseCanArriveBeforeThePartialIsRead(script: OriginScript) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", [], of: 40_000_000)
            #expect(truncate(try fixture.partial("/a.png"), 32 << 20) == 0)
            fixture.origin.route("/a.png") { request in
                request.headers["Range"] == nil ? .answer(body: image) : script
            }
            fixture.origin.route("/elsewhere.png") { .ranged(image, for: $0, etag: "\"3\"") }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == image)
            #expect(try !fixture.hasPartial("/a.png"))
        }
    }
}

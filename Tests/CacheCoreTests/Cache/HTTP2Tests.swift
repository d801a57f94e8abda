import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheModel

/// HTTP/2 as real servers speak it: images that browsers show are cached, and no attempt is spent on a connection.
@Suite("Cache: HTTP/2", .timeLimit(.minutes(5)))
struct HTTP2Tests {
    private static let image = SampleImage.png(byteCount: 30_000)

    private struct Scene {
        let fixture: CacheFixture
        let front: HTTP2Origin

        func imageRequests(_ paths: [String]) throws -> [ImageRequest] {
            try paths.map { ImageRequest(try CacheURL(front.url($0))) }
        }

        /// Fetches images, and returns the kinds of failure.
        func fetch(_ paths: String...) async throws -> [Failure.Kind] {
            let waiter = fixture.cache.fetch(try imageRequests(paths), FetchOptions())
            return try await fixture.outcome(of: waiter).failures.values.map(\.kind)
        }

        func expectEntry(_ path: String, _ image: [UInt8] = HTTP2Tests.image) throws {
            let key = try imageRequests([path])[0].key
            #expect(try contents(of: fixture.cache.path(of: key)) == image)
        }
    }

    private func scene(
        _ script: String, streams: Int = 100, attempts: Int = 1, in scope: TestScope
    ) async throws -> Scene {
        let authority = try await CertificateAuthority(in: scope)
        let origin = try ScriptedOrigin(in: scope)
        let front = try await HTTP2Origin(
            authority.issue(for: ["IP:127.0.0.1"]), Self.image, script, streams: streams,
            fallback: origin, in: scope)
        let fixture = try CacheFixture(in: scope, origin: origin) {
            $0.transfers.certificateFile = authority.certificate
            $0.retry = RetryPolicy()
            $0.retry.attempts = attempts
            $0.retry.firstPause = .milliseconds(1)
        }
        return Scene(fixture: fixture, front: front)
    }

    /// nginx passes on the fields with which Apache offers HTTP/2 (RFC 9113 §8.2.2 forbids them).
    @Test func anApacheBehindAnNginxIsAskedByHTTP1() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let names = (0..<20).map { "\($0).png" }
            let apache = try await Apache(
                serving: Dictionary(uniqueKeysWithValues: names.map { ($0, Self.image) }), in: scope
            )
            let nginx = try await Nginx(
                serving: [:], tls: authority.issue(for: ["IP:127.0.0.1"]),
                extra: "location / { proxy_pass http://127.0.0.1:\(apache.port); }", in: scope)
            let fixture = try CacheFixture(in: scope) {
                $0.transfers.certificateFile = authority.certificate
            }
            func fetch(_ names: some Sequence<String>) async throws {
                let imageRequests = try names.map { ImageRequest(try CacheURL(nginx.url($0))) }
                let waiter = fixture.cache.fetch(imageRequests, FetchOptions())
                #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
                for imageRequest in imageRequests {
                    #expect(
                        try contents(of: fixture.cache.path(of: imageRequest.key)) == Self.image)
                }
            }
            try await fetch(names.prefix(1))
            #expect(nginx.log.contains("GET /0.png 200 HTTP/2.0"))
            // The origin's HTTP/2 is not tried again.
            try await fetch(names.dropFirst())
            let requests = nginx.log.split(separator: "\n").filter { $0.hasPrefix("GET ") }
            #expect(requests.count == names.count + 1)
            #expect(requests.filter { $0.contains("HTTP/1.1") }.count == names.count)
        }
    }

    @Test(arguments: [
        "('upgrade', 'h2,h2c')", "('connection', 'Upgrade')", "('keep-alive', 'timeout=5')",
        "('proxy-connection', 'keep-alive')", "('transfer-encoding', 'chunked')",
    ])
    func fieldsOfConnectionsLeadToHTTP1(field: String) async throws {
        try await withTestScope { scope in
            let scene = try await scene(
                "c.head(stream, \(field))\nc.data(stream, image)", in: scope)
            for path in ["a.png", "b.png"] {
                scene.fixture.origin.route("/\(path)", .answer(body: Self.image))
                #expect(try await scene.fetch(path) == [])
                try scene.expectEntry(path)
            }
            #expect(scene.front.requests.count == 1)
            #expect(scene.fixture.origin.requests().count == 2)
        }
    }

    /// If HTTP/1.1 fails as well, nothing is known about HTTP/2.
    @Test func onlyASuccessByHTTP1IsRemembered() async throws {
        try await withTestScope { scope in
            let scene = try await scene("c.reset(stream, 2)", in: scope)
            scene.fixture.origin.route("/a.png", [.close])
            #expect(try await scene.fetch("a.png") == [.unreachable])
            #expect(try await scene.fetch("b.png") == [.http])
            #expect(try await scene.fetch("c.png") == [.http])
            #expect(scene.front.requests.count == 2)
        }
    }

    /// The length is one too small, 0, one too large, or there twice.
    @Test(arguments: [
        ("('content-length', str(len(image) - 1))", []),
        ("('content-length', '0')", []),
        ("('content-length', str(len(image) + 1))", []),
        ("('content-length', str(len(image))), ('content-length', str(len(image)))", []),
        ("('content-length', '3'), ('content-length', '5')", [Failure.Kind.protocolError]),
    ])
    func aLengthThatDoesNotFitIsJudgedByHTTP1(fields: String, kinds: [Failure.Kind]) async throws {
        try await withTestScope { scope in
            let scene = try await scene(
                "c.head(stream, \(fields))\nc.data(stream, image)", in: scope)
            scene.fixture.origin.route(
                "/a.png",
                kinds.isEmpty
                    ? .answer(body: Self.image)
                    : [
                        .head(
                            200, HeaderFields([("Content-Length", "3"), ("Content-Length", "5")])),
                        .bytes(Self.image), .close,
                    ])
            #expect(try await scene.fetch("a.png") == kinds)
            if kinds.isEmpty { try scene.expectEntry("a.png") }
            #expect(scene.fixture.origin.requests().count == 1)
        }
    }

    /// RFC 9113 §6.8, §8.7. The fixture has one attempt.
    @Test(arguments: [
        // The first request of a connection is answered, and the others were not processed.
        """
        if c.number == 1:
            if stream == 1:
                c.head(stream)
                c.data(stream, image)
                c.goaway(1)
        else:
            c.head(stream)
            c.data(stream, image)
        """,
        """
        if c.number == 1: c.goaway(0)
        else:
            c.head(stream)
            c.data(stream, image)
        """,
        """
        if number <= 8: c.reset(stream, 7)
        else:
            c.head(stream)
            c.data(stream, image)
        """,
        // The connection closes behind the frame.
        """
        if c.number == 1:
            c.goaway(0)
            c.client.close()
        else:
            c.head(stream)
            c.data(stream, image)
        """,
    ])
    func aRequestThatWasNotProcessedIsRepeatedAtOnce(script: String) async throws {
        try await withTestScope { scope in
            let scene = try await scene(script, in: scope)
            let paths = (0..<6).map { "\($0).png" }
            let waiter = scene.fixture.cache.fetch(try scene.imageRequests(paths), FetchOptions())
            let failures = try await scene.fixture.outcome(of: waiter).failures.values
            try #require(failures.isEmpty, "\(failures.map(\.message)), \(scene.front.requests)")
            for path in paths { try scene.expectEntry(path) }
            #expect(scene.fixture.cache.statistics().retried == 0)
            #expect(scene.fixture.origin.requests().isEmpty)
        }
    }

    /// RFC 9113 §8.1: a server may reset a stream without an error. Inside a body nothing says that it is complete.
    @Test func aStreamThatIsResetInsideTheBodyContinues() async throws {
        try await withTestScope { scope in
            let scene = try await scene(
                """
                fields = dict(c.fields)
                length = ('content-length', str(len(image)))
                if b'range' not in fields:
                    c.head(stream, length, ('etag', '"1"'))
                    c.data(stream, image[:20000], end=False)
                    c.reset(stream, 0)
                else:
                    assert fields[b'range'] == b'bytes=20000-'
                    c.head(stream, ('content-range', f'bytes 20000-{len(image) - 1}/{len(image)}'),
                        ('etag', '"1"'), status=206)
                    c.data(stream, image[20000:])
                """, attempts: 2, in: scope)
            #expect(try await scene.fetch("a.png") == [])
            try scene.expectEntry("a.png")
            #expect(scene.front.requests.count == 2)
            #expect(scene.fixture.cache.statistics().bytesReceived == Self.image.count)
        }
    }

    /// libcurl opens a connection more for each download that finds no free stream. Version 8 also closes a connection
    /// that refused a stream because the server's limit was not known yet; the server has some of those besides the six.
    @Test(arguments: [1, 2, 7, 128])
    func aServerThatAllowsFewStreamsHasSixConnections(streams: Int) async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let folder = try TemporaryDirectory(in: scope)
            let names = (0..<200).map { "\($0).png" }
            for name in names { try folder.write(Self.image, to: name) }
            let nginx = try await Nginx(
                serving: ["/": folder.path], limitRate: 1_000_000,
                tls: authority.issue(for: ["IP:127.0.0.1"]),
                extra: """
                    http2_max_concurrent_streams \(streams);
                    if ($connections_active ~ "^(1[3-9]|[2-9][0-9]|[0-9][0-9][0-9]+)$") { return 503; }
                    """, in: scope)
            let fixture = try CacheFixture(in: scope) {
                $0.transfers.certificateFile = authority.certificate
                $0.transfers.transferLimit = 200
            }
            let imageRequests = try names.map { ImageRequest(try CacheURL(nginx.url($0))) }
            let waiter = fixture.cache.fetch(imageRequests, FetchOptions())
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            let connections = Set(
                nginx.log.split(separator: "\n").filter { $0.hasPrefix("GET ") }
                    .compactMap { $0.split(separator: " ").last })
            #expect(connections.count <= 24, "\(connections.count)")
            if streams > 100 { #expect(connections.count == 1) }
        }
    }
}

import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Origins that claim HTTP/2 without speaking it, or break off a stream.
@Suite("Cache: false HTTP/2", .timeLimit(.minutes(5)))
struct ClaimedHTTP2Tests {
    private static let image = SampleImage.png(byteCount: 30_000)

    /// A cache that trusts an origin behind TLS. With `frames` the origin speaks HTTP/2 and sends them.
    private func scene(
        frames: [[UInt8]]? = nil, in scope: TestScope
    ) async throws -> (CacheFixture, TLSTerminator) {
        let authority = try await CertificateAuthority(in: scope)
        let origin = try ScriptedOrigin(in: scope)
        let front = try await TLSTerminator(
            authority.issue(), to: origin, frames: frames, in: scope)
        let fixture = try CacheFixture(in: scope, origin: origin) {
            $0.transfers.certificateFile = authority.certificate
        }
        return (fixture, front)
    }

    /// libcurl 7.88 believes the status line and lets downloads share the connection.
    @Test(arguments: ["HTTP/2 200 OK", "HTTP/2.0 200 OK", "HTTP/2 200 "])
    func aClaimOfHTTP2ThatWasNotAgreedOnIsRefused(line: String) async throws {
        try await withTestScope { scope in
            let (fixture, front) = try await scene(in: scope)
            let claim = "\(line)\r\nContent-Length: \(Self.image.count)\r\n\r\n"
            let paths = (0..<20).map { "\($0).png" }
            for path in paths {
                fixture.origin.route("/\(path)", [.bytes(Array(claim.utf8) + Self.image)])
            }
            let imageRequests = try paths.map { ImageRequest(try CacheURL(front.url($0))) }
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch(imageRequests, FetchOptions()))
            #expect(outcome.failures.count == paths.count)
            #expect(outcome.failures.values.allSatisfy { $0.kind == .protocolError })
            #expect(fixture.cache.statistics().entries == 0)
        }
    }

    /// Otherwise a part of an image would be published.
    @Test func aClaimOfHTTP2DoesNotProveThatTheImageIsComplete() async throws {
        try await withTestScope { scope in
            let (fixture, front) = try await scene(in: scope)
            let head = Array("HTTP/2 200 OK\r\n\r\n".utf8)
            fixture.origin.route("/a.png", [.bytes(head + Self.image.dropLast(100)), .close])
            let imageRequest = ImageRequest(try CacheURL(front.url("a.png")))
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch([imageRequest], FetchOptions()))
            #expect(outcome.failures.count == 1)
            #expect(fixture.cache.statistics().entries == 0)
        }
    }

    /// HTTP/1.1 has the same failure.
    @Test func aConnectionThatClosesBeforeTheResponseIsUnreachable() async throws {
        try await withTestScope { scope in
            let (fixture, front) = try await scene(frames: [], in: scope)
            let imageRequest = ImageRequest(try CacheURL(front.url("a.png")))
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch([imageRequest], FetchOptions()))
            #expect(outcome.failures.values.map(\.kind) == [.unreachable])
        }
    }

    /// libcurl repeats the request by HTTP/1.1 in the middle of the first response (RFC 9113 §7).
    @Test func anImageThatBeginsAgainInItsMiddleIsRefused() async throws {
        try await withTestScope { scope in
            let (fixture, front) = try await scene(
                frames: [
                    // HEADERS: `:status: 200`.
                    [0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88],
                    // DATA.
                    [0, 0x20, 0, 0, 0, 0, 0, 0, 1] + Self.image.prefix(8192),
                    // RST_STREAM: HTTP_1_1_REQUIRED.
                    [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0x0D],
                ], in: scope)
            fixture.origin.route("/a.png", .answer(body: Self.image))
            let imageRequest = ImageRequest(try CacheURL(front.url("a.png")))
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch([imageRequest], FetchOptions()))
            #expect(outcome.failures.values.map(\.kind) == [.truncated])
            #expect(fixture.cache.statistics().entries == 0)
        }
    }

    /// A stream that is reset without an error is not complete (RFC 9113 §8.1), but libcurl reports no difference.
    /// If the image does not show its own end, HTTP/1.1 has to show it.
    @Test(arguments: [12, 20_000, image.count], [true, false])
    func aStreamThatIsResetIsNoCompleteImage(missing: Int, isWholeByHTTP1: Bool) async throws {
        try await withTestScope { scope in
            var data: [[UInt8]] = []
            var rest = Self.image.dropLast(missing)[...]
            while !rest.isEmpty {
                let part = rest.prefix(8192)
                rest = rest.dropFirst(part.count)
                data.append(
                    [0, UInt8(part.count >> 8), UInt8(part.count & 0xFF), 0, 0, 0, 0, 0, 1] + part)
            }
            let (fixture, front) = try await scene(
                // HEADERS: `:status: 200`. DATA, without END_STREAM. RST_STREAM: NO_ERROR.
                frames: [[0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88]] + data
                    + [[0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0]], in: scope)
            fixture.origin.route(
                "/a.png",
                isWholeByHTTP1 ? .answer(body: Self.image) : .cut(Self.image, after: 20_000))
            let imageRequest = ImageRequest(try CacheURL(front.url("a.png")))
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch([imageRequest], FetchOptions()))
            #expect(outcome.failures.values.map(\.kind) == (isWholeByHTTP1 ? [] : [.truncated]))
            #expect(fixture.origin.requests("/a.png").count == 1)
            guard isWholeByHTTP1 else { return }
            #expect(try contents(of: fixture.cache.path(of: imageRequest.key)) == Self.image)
        }
    }

    /// libcurl 7.88 believes the status line. It would let downloads share a connection and mix up their
    /// responses.
    @Test(arguments: ["HTTP/2 200", "HTTP/3 200"])
    func aClaimOfHTTP2WithoutTLSIsRefused(line: String) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let claim = "\(line)\r\nContent-Length: \(Self.image.count)\r\n\r\n"
            fixture.origin.route("/claim.png", [.bytes(Array(claim.utf8) + Self.image)])
            let failures = try await fixture.fetch("/claim.png").failures
            #expect(failures.values.map(\.kind) == [.protocolError])
            #expect(fixture.cache.statistics().entries == 0)
        }
    }

    /// The redirect comes from a host with HTTP/2, so libcurl permits HTTP/2 for its target, too.
    @Test func aClaimOfHTTP2BehindARedirectIsRefused() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let claim = "HTTP/2 200\r\nContent-Length: \(Self.image.count)\r\n\r\n"
            let names = (0..<20).map { "\($0).png" }
            for name in names { origin.route("/\(name)", [.bytes(Array(claim.utf8) + Self.image)]) }
            // Without TLS the redirect would be refused.
            let identity = try await authority.issue(for: ["IP:127.0.0.1"])
            let front = try await TLSTerminator(identity, to: origin, in: scope)
            let nginx = try await Nginx(
                serving: [:], tls: identity,
                extra: "return 302 \(front.url("").dropLast())$request_uri;", in: scope)
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.transfers.certificateFile = authority.certificate
            }
            let imageRequests = try names.map { ImageRequest(try CacheURL(nginx.url($0))) }
            let failures = try await fixture.outcome(
                of: fixture.cache.fetch(imageRequests, FetchOptions())
            ).failures
            #expect(failures.count == names.count)
            #expect(failures.values.allSatisfy { $0.kind == .protocolError })
        }
    }
}

import CacheKey
import TestSupport
import Testing

@testable import CacheCore

/// Origins that say they speak HTTP/2 and do not, or no longer.
@Suite("Cache: HTTP/2 that is not", .timeLimit(.minutes(5)))
struct ClaimedHTTP2Tests {
    private static let image = SampleImage.png(byteCount: 30_000)

    /// A cache that trusts an origin behind TLS, with what is sent by HTTP/2 if that may be spoken.
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

    /// libcurl 7.88 believes the line, and has downloads share the connection.
    @Test(arguments: ["HTTP/2 200 OK", "HTTP/2.0 200 OK", "HTTP/2 200 "])
    func whoWasNotAskedForItIsRefused(line: String) async throws {
        try await withTestScope { scope in
            let (fixture, front) = try await scene(in: scope)
            let claim = "\(line)\r\nContent-Length: \(Self.image.count)\r\n\r\n"
            let paths = (0..<20).map { "\($0).png" }
            for path in paths {
                fixture.origin.route("/\(path)", [.bytes(Array(claim.utf8) + Self.image)])
            }
            let wishes = try paths.map { Wish(try CacheURL(front.url($0))) }
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch(wishes, FetchOptions()))
            #expect(outcome.failures.count == paths.count)
            #expect(outcome.failures.values.allSatisfy { $0.kind == .protocolError })
            #expect(fixture.cache.statistics().entries == 0)
        }
    }

    /// It would be half an image, taken for a whole one.
    @Test func theClaimVouchesForNoEnd() async throws {
        try await withTestScope { scope in
            let (fixture, front) = try await scene(in: scope)
            let head = Array("HTTP/2 200 OK\r\n\r\n".utf8)
            fixture.origin.route("/a.png", [.bytes(head + Self.image.dropLast(100)), .close])
            let wish = Wish(try CacheURL(front.url("a.png")))
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch([wish], FetchOptions()))
            #expect(outcome.failures.count == 1)
            #expect(fixture.cache.statistics().entries == 0)
        }
    }

    /// As by HTTP/1.1.
    @Test func aConnectionThatEndsBeforeTheAnswerIsLost() async throws {
        try await withTestScope { scope in
            let (fixture, front) = try await scene(frames: [], in: scope)
            let wish = Wish(try CacheURL(front.url("a.png")))
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch([wish], FetchOptions()))
            #expect(outcome.failures.values.map(\.kind) == [.unreachable])
        }
    }

    /// libcurl makes the request again by HTTP/1.1, amid the bytes of the first answer (RFC 9113 §7).
    @Test func anImageThatBeginsAnewAmidItsBytesIsNotOne() async throws {
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
            let wish = Wish(try CacheURL(front.url("a.png")))
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch([wish], FetchOptions()))
            #expect(outcome.failures.values.map(\.kind) == [.truncated])
            #expect(fixture.cache.statistics().entries == 0)
        }
    }

    /// A stream that is reset without an error has not ended (RFC 9113 §8.1); libcurl tells no difference, so that
    /// HTTP/1.1 has to say where an image ends that does not show it.
    @Test(arguments: [12, 20_000, image.count], [true, false])
    func aStreamThatIsResetEndsNoImage(missing: Int, isWholeByHTTP1: Bool) async throws {
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
            let wish = Wish(try CacheURL(front.url("a.png")))
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch([wish], FetchOptions()))
            #expect(outcome.failures.values.map(\.kind) == (isWholeByHTTP1 ? [] : [.truncated]))
            #expect(fixture.origin.requests("/a.png").count == 1)
            guard isWholeByHTTP1 else { return }
            #expect(try contents(of: fixture.cache.path(of: wish.key)) == Self.image)
        }
    }

    /// libcurl 7.88 believes the line, and would have downloads share a connection and mix up whose the responses
    /// are.
    @Test(arguments: ["HTTP/2 200", "HTTP/3 200"])
    func whoClaimsHTTP2WithoutTLSIsRefused(line: String) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let claim = "\(line)\r\nContent-Length: \(Self.image.count)\r\n\r\n"
            fixture.origin.route("/claim.png", [.bytes(Array(claim.utf8) + Self.image)])
            let failures = try await fixture.fetch("/claim.png").failures
            #expect(failures.values.map(\.kind) == [.protocolError])
            #expect(fixture.cache.statistics().entries == 0)
        }
    }

    /// A redirect leads there from where HTTP/2 is spoken, so that it might be spoken there too.
    @Test func whoClaimsHTTP2BehindARedirectIsRefused() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let claim = "HTTP/2 200\r\nContent-Length: \(Self.image.count)\r\n\r\n"
            let names = (0..<20).map { "\($0).png" }
            for name in names { origin.route("/\(name)", [.bytes(Array(claim.utf8) + Self.image)]) }
            let nginx = try await Nginx(
                serving: [:], tls: authority.issue(for: ["IP:127.0.0.1"]),
                extra: "return 302 \(origin.url(""))$request_uri;", in: scope)
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.transfers.certificateFile = authority.certificate
            }
            let wishes = try names.map { Wish(try CacheURL(nginx.url($0))) }
            let failures = try await fixture.outcome(
                of: fixture.cache.fetch(wishes, FetchOptions())
            ).failures
            #expect(failures.count == names.count)
            #expect(failures.values.allSatisfy { $0.kind == .protocolError })
        }
    }
}

import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheModel

/// Bytes of a connection that are neither head nor body of a response.
@Suite("Cache: bytes off the wire", .timeLimit(.minutes(2)))
struct WireBudgetTests {
    private static let image = SampleImage.png(byteCount: 30_000)

    /// Frames of an unknown type have to be ignored (RFC 9113 §5.5), and empty frames of DATA are allowed.
    @Test(arguments: [
        [0, 0x40, 0, 0xFA, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 16_384),
        // DATA of stream 1 with the longest padding and no bytes.
        [0, 1, 0, 0, 8, 0, 0, 0, 1, 0xFF] + [UInt8](repeating: 0, count: 255),
    ])
    func aFloodOfFramesByHTTP2EndsTheDownload(flood: [UInt8]) async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let front = try await TLSTerminator(
                authority.issue(), to: origin,
                frames: [
                    // HEADERS: `:status: 200`, and DATA, both of stream 1.
                    [0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88],
                    [0, 0x20, 0, 0, 0, 0, 0, 0, 1] + Self.image.prefix(8192),
                ], flood: flood, in: scope)
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.transfers.certificateFile = authority.certificate
            }
            for path in ["a.png", "b.png"] {
                let imageRequest = ImageRequest(try CacheURL(front.url(path)))
                let outcome = try await fixture.outcome(
                    of: fixture.cache.fetch([imageRequest], FetchOptions()))
                let failure = try #require(outcome.failures.values.first)
                #expect(failure.kind == .protocolError)
                #expect(failure.message.contains("far more bytes"))
            }
        }
    }

    /// Frames of an unknown type without a payload: libcurl reads them in one call that does not come back.
    @Test func smallFramesWithoutEndHoldNobody() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/good.png", .answer(body: Self.image))
            let frame: [UInt8] = [0, 0, 0, 0xFA, 0, 0, 0, 0, 0]
            let front = try await TLSTerminator(
                authority.issue(), to: origin,
                frames: [[0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88]],
                flood: Array(repeatElement(frame, count: 4000).joined()), in: scope)
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.transfers.certificateFile = authority.certificate
            }
            let request = ImageRequest(try CacheURL(front.url("a.png")))
            let waiter = fixture.cache.fetch([request], FetchOptions())
            for number in 0..<5 {
                #expect(try await fixture.fetch("/good.png?\(number)").failures.isEmpty)
            }
            let failure = try #require(
                try await fixture.outcome(of: waiter).failures.values.first)
            #expect(failure.kind == .protocolError)
            #expect(failure.message.contains("far more bytes"))
        }
    }

    /// Streams share a connection: a large image is not the framing of another one that has not begun.
    @Test func aLargeImageIsNoFramingOfAnother() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let folder = try TemporaryDirectory(in: scope)
            // More bytes around the image than an honest connection has.
            try folder.write(SampleImage.png(byteCount: 20_000_000), to: "large.png")
            let gate = try Gate()
            let origin = try ScriptedOrigin(in: scope)
            origin.route(
                "/slow.png",
                OriginScript([.wait(gate)] + OriginScript.answer(body: Self.image).steps))
            let nginx = try await Nginx(
                serving: ["/": folder.path], tls: authority.issue(),
                extra: "location = /slow.png { proxy_pass \(origin.url("/slow.png")); }", in: scope)
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.transfers.certificateFile = authority.certificate
            }
            let slow = fixture.cache.fetch(
                [ImageRequest(try CacheURL(nginx.url("slow.png")))], FetchOptions())
            try await gate.reached()
            let imageRequest = ImageRequest(try CacheURL(nginx.url("large.png")))
            let large = fixture.cache.fetch([imageRequest], FetchOptions())
            #expect(try await fixture.outcome(of: large).failures.isEmpty)
            gate.open()
            #expect(try await fixture.outcome(of: slow).failures.isEmpty)
            // They had one connection.
            let connections = Set(
                nginx.log.split(separator: "\n").filter { $0.hasPrefix("GET ") }
                    .compactMap { $0.split(separator: " ").last })
            #expect(connections.count == 1)
        }
    }
}

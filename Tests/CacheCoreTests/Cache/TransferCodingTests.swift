import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// libcurl decodes transfer codings that were not asked for, even several layers of them. So they are refused before
/// the body arrives (RFC 9112 §6.1).
@Suite("Cache: transfer codings", .timeLimit(.minutes(5)))
struct TransferCodingTests {
    private static let image = SampleImage.png(byteCount: 5000)

    private static func compressed(_ bytes: [UInt8], _ scope: TestScope) async throws -> [UInt8] {
        let file = try TemporaryDirectory(in: scope).write(bytes, to: "body")
        _ = try await runSuccessfully("gzip", [file])
        return try contents(of: file + ".gz")
    }

    @Test(
        arguments: [
            ["gzip, chunked"], ["gzip"], ["GZIP , chunked"], ["x-gzip, chunked"],
            ["gzip", "chunked"],
        ], [200, 302, 404])
    func aTransferCodingThatWasNotAskedForIsRefused(lines: [String], status: Int) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let body = try await Self.compressed(Self.image, scope)
            let head =
                ["HTTP/1.1 \(status) x", "Location: /b.png", "Connection: close"]
                + lines.map { "Transfer-Encoding: \($0)" }
            let isChunked = lines.last?.hasSuffix("chunked") == true
            let start = (head + ["", ""]).joined(separator: "\r\n")
            var script: OriginScript = [.bytes(Array(start.utf8))]
            script.steps += isChunked ? [.chunk(body), .chunk([])] : [.bytes(body), .close]
            fixture.origin.route("/a.png", script)
            fixture.origin.route("/b.png", .answer(body: Self.image))
            let failures = try await fixture.fetch("/a.png").failures
            #expect(failures.values.map(\.kind) == [.protocolError])
            #expect(failures.values.first?.message.contains("compressed for the transfer") == true)
            #expect(fixture.origin.requests("/b.png").isEmpty)
        }
    }
}

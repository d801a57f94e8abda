import CacheWire
import Foundation
import TestSupport
import Testing

/// Smaller images of damaged originals, in every format: each costs its own image at most.
@Suite("Damaged originals", .timeLimit(.minutes(isLongForm ? 60 : 5)))
struct DamagedOriginalsTests {
    private static let count = isLongForm ? 1000 : 64

    @Test func damageCostsOneImage() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let originals = try await Self.originals(in: scope)
            var random = SeededGenerator(seed: 1)
            for number in 0..<Self.count {
                var bytes = originals[number % originals.count]
                Self.damage(&bytes, &random)
                origin.route("/damaged/\(number)", .answer(body: bytes))
            }
            for (number, bytes) in originals.enumerated() {
                origin.route("/whole/\(number)", .answer(body: bytes))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let urls = (0..<Self.count).map { origin.url("/damaged/\($0)#side=64") }
            for batch in stride(from: 0, to: urls.count, by: 64) {
                let some = urls[batch..<min(batch + 64, urls.count)]
                let fetch = try await daemon.cachectl(
                    "fetch", "--json", "-", input: Array(some.joined(separator: "\n").utf8),
                    within: .seconds(600))
                let items = try fetch.lines.map {
                    try JSONDecoder().decode(Answer.self, from: Data($0.utf8))
                }
                #expect(items.count == some.count)
                for item in items {
                    let isWhole =
                        item.state == "cached" && max(item.width ?? 0, item.height ?? 0) <= 64
                    #expect(isWhole || item.failure != nil, "\(item)")
                }
            }
            #expect(daemon.process.exitStatus == nil, "\(daemon.log)")
            for number in originals.indices {
                let fetch = try await daemon.cachectl(
                    "fetch", origin.url("/whole/\(number)#side=64"))
                #expect(fetch.status == .success, "\(number): \(fetch.errorText)")
            }
        }
    }

    private struct Answer: Decodable {
        struct Failure: Decodable { let kind: String }
        let state: String
        let width: Int?
        let height: Int?
        let failure: Failure?
    }

    /// Cuts the end, or flips some bits.
    private static func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        if random.oneIn(4) {
            bytes.removeLast(Int.random(in: 1...bytes.count / 2, using: &random))
        } else {
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
        }
    }

    /// A picture in each format of which smaller images are made on Debian 12 and 13.
    private static func originals(in scope: TestScope) async throws -> [[UInt8]] {
        let folder = try TemporaryDirectory(in: scope)
        let png = folder.file("a.png")
        try await runSuccessfully(
            "convert", ["-size", "400x300", "-seed", "1", "plasma:fractal", png])
        for type in ["jpg", "gif", "webp", "tiff"] {
            try await runSuccessfully("convert", [png, folder.file("a.\(type)")])
        }
        try await runSuccessfully("heif-enc", [png, "-o", folder.file("a.heic")])
        try await runSuccessfully("heif-enc", ["-A", png, "-o", folder.file("a.avif")])
        return try ["jpg", "png", "gif", "webp", "tiff", "heic", "avif"].map {
            try contents(of: folder.file("a.\($0)"))
        }
    }
}

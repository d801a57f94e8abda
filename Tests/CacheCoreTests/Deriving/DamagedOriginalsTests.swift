import CLinux
import Glibc
import ImageFormats
import TestSupport
import Testing

@testable import CacheCore

/// The program that derives images, handed files that are no images any more. In the long form there are 1,000 of them.
@Suite("Deriving damaged originals", .serialized, .timeLimit(.minutes(10)))
struct DamagedOriginalsTests {
    private static let count = isLongForm ? 1000 : 105

    @Test func everyCrashIsContainedAndTheNextImageIsDerived() async throws {
        try await withTestScope { scope in
            let folder = try TemporaryDirectory(in: scope)
            let originals = try await OriginalFiles.make(in: folder.path)
            var random = SeededGenerator(seed: testSeed)
            let program = try BuiltProducts.program("cached-deriver")
            var process = try DeriverProcess(program)
            var (pictures, refused, lost) = (0, 0, 0)
            for number in 0..<Self.count {
                let original = originals[number % originals.count]
                let file = try folder.write(damaged(original.bytes, &random), to: "damaged")
                switch derive(file, process) {
                case .success(let bytes):
                    pictures += 1
                    #expect(size(of: bytes) <= 64, "\(original.name)")
                case .failure(.refused(let reason)):
                    refused += 1
                    #expect(!reason.isEmpty)
                case .failure(.lost):
                    lost += 1
                    process = try DeriverProcess(program)
                }
            }
            #expect(pictures + refused + lost == Self.count)
            #expect(pictures > 0 && refused > 0)
            for original in originals {
                guard case .success(let bytes) = derive(original.path, process) else {
                    Issue.record("\(original.name) is not derived any more")
                    continue
                }
                #expect(size(of: bytes) == 64, "\(original.name)")
            }
        }
    }

    private func derive(
        _ path: String, _ process: DeriverProcess
    ) -> Result<[UInt8], DeriverProcess.Problem> {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        do throws(DeriverProcess.Problem) {
            return .success(try process.derive(from: file, side: 64) { true })
        } catch {
            return .failure(error)
        }
    }

    private func size(of bytes: [UInt8]) -> Int {
        var inspector = ImageInspector()
        bytes.withUnsafeBytes { inspector.consume($0) }
        let report = inspector.finish()
        return max(report.width ?? 0, report.height ?? 0)
    }

    /// Cut, or with some bits turned over.
    private func damaged(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        if Bool.random(using: &random) {
            return Array(bytes[..<Int.random(in: 0..<bytes.count, using: &random)])
        }
        for _ in 0...Int.random(in: 0...20, using: &random) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
        }
        return bytes
    }
}

/// Images of every format that smaller ones are derived from on Debian 12, made by the reference encoders.
struct OriginalFiles {
    let name: String
    let path: String
    let bytes: [UInt8]

    static func make(in folder: String) async throws -> [OriginalFiles] {
        let source = "\(folder)/source.png"
        try await runSuccessfully(
            "convert", ["-size", "160x120", "-seed", "1", "plasma:fractal", source])
        for name in ["a.jpg", "a.gif", "a.tif", "a.webp"] {
            try await runSuccessfully("convert", [source, "\(folder)/\(name)"])
        }
        try await runSuccessfully(
            "convert", [source, "-interlace", "Plane", "\(folder)/progressive.jpg"])
        try await runSuccessfully("avifenc", ["-s", "10", source, "\(folder)/a.avif"])
        try await runSuccessfully("heif-enc", [source, "-o", "\(folder)/a.heic"])
        return try [
            "source.png", "a.jpg", "progressive.jpg", "a.gif", "a.tif", "a.webp", "a.avif",
            "a.heic",
        ].map { name in
            let path = "\(folder)/\(name)"
            return OriginalFiles(name: name, path: path, bytes: try contents(of: path))
        }
    }
}

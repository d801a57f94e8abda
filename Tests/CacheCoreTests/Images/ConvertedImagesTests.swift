import CacheCore
import Foundation
import Testing

/// What the reference encoders of each format write, whole and cut short.
@Suite(
    "Converted images", .timeLimit(.minutes(5)),
    .enabled(if: !Conversion.available.isEmpty, "needs ImageMagick's convert"))
final class ConvertedImagesTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cached-images-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Conversion.makeSources(in: folder)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            Issue.record(error)
        }
    }

    @Test(arguments: Conversion.available)
    func isRecognisedAndMeasured(_ conversion: Conversion) throws {
        let bytes = try conversion.run(in: folder)
        let report = inspect(bytes)
        #expect(report.mediaType == conversion.mediaType)
        #expect(report.width == Conversion.width)
        #expect(report.height == Conversion.height)
        #expect(report.completeness == conversion.completeness)
        #expect(!report.hasTrailingBytes)
        #expect(inspect(bytes, .random(seed: 7)) == report)
        #expect(inspect(bytes, .byteByByte) == report)
    }

    @Test(arguments: Conversion.available)
    func isNeverWholeWhenCut(_ conversion: Conversion) throws {
        let bytes = try conversion.run(in: folder)
        let step = max(1, bytes.count / 500)
        for length in stride(from: 0, to: bytes.count, by: step) + [bytes.count - 1] {
            let report = inspect(bytes.prefix(length))
            #expect(report.completeness != .whole, "\(length) of \(bytes.count) bytes")
        }
    }
}

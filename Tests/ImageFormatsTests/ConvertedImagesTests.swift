import Foundation
import ImageFormats
import ImageSamples
import TestSupport
import Testing

/// Files of the reference encoder of each format, complete and cut off.
@Suite(
    "Converted images", .timeLimit(.minutes(5)),
    .enabled(if: !Conversion.available.isEmpty, "needs ImageMagick's convert"))
struct ConvertedImagesTests {
    @Test func convertedImagesAreMeasuredAndNeverWholeWhenCut() async throws {
        try await withTestScope { scope in
            let folder = try TemporaryDirectory(in: scope).path
            try await Conversion.makeSources(in: folder)
            for conversion in Conversion.available {
                let bytes = try await conversion.run(in: folder)
                isRecognisedAndMeasured(bytes, conversion)
                isNeverWholeWhenCut(bytes, conversion)
            }
        }
    }

    private func isRecognisedAndMeasured(_ bytes: [UInt8], _ conversion: Conversion) {
        let report = inspect(bytes)
        #expect(report.mediaType == conversion.mediaType, "\(conversion)")
        let size = [Conversion.width, Conversion.height]
        let shown = conversion.orientation > 4 ? size.reversed() : size
        #expect([report.width, report.height] == shown, "\(conversion)")
        #expect(Int(report.orientation.rawValue) == conversion.orientation, "\(conversion)")
        #expect(report.completeness == conversion.completeness, "\(conversion)")
        #expect(!report.hasTrailingBytes, "\(conversion)")
        #expect(inspect(bytes, .random(seed: 7)) == report, "\(conversion)")
        #expect(inspect(bytes, .byteByByte) == report, "\(conversion)")
    }

    private func isNeverWholeWhenCut(_ bytes: [UInt8], _ conversion: Conversion) {
        let step = max(1, bytes.count / 500)
        for length in stride(from: 0, to: bytes.count, by: step) + [bytes.count - 1] {
            let report = inspect(bytes.prefix(length))
            #expect(
                report.completeness != .whole,
                "\(conversion): \(length) of \(bytes.count) bytes")
        }
    }
}

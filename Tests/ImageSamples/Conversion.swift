import Foundation
package import ImageFormats
import TestSupport

/// A program that makes an image of 123 by 77 pixels, with the expected report.
package struct Conversion: Sendable, CustomStringConvertible {
    package static let width = 123
    package static let height = 77

    package let program: String
    /// `IN` stands for the source, `PHOTO` for a JPEG, `TURNED` for one that is
    /// turned to the right by its Exif, `GIF` for an animation, and `OUT` for the result.
    package let arguments: [String]
    package let fileExtension: String
    package let mediaType: MediaType
    package var completeness = ImageReport.Completeness.whole
    package var orientation = 1

    package var description: String { ([program] + arguments).joined(separator: " ") }

    package init(
        _ command: String, _ fileExtension: String, _ mediaType: MediaType,
        _ completeness: ImageReport.Completeness = .whole, orientation: Int = 1
    ) {
        let words = command.split(separator: " ").map(String.init)
        program = words[0]
        arguments = Array(words.dropFirst())
        self.fileExtension = fileExtension
        self.mediaType = mediaType
        self.completeness = completeness
        self.orientation = orientation
    }

    /// The conversions whose program is installed. Without `convert`, which makes the sources, there are none.
    package static let available =
        find("convert") == nil ? [] : all.filter { find($0.program) != nil }

    private static let all = [
        Conversion("convert IN OUT", "png", .png),
        Conversion("convert IN -interlace PNG OUT", "png", .png),
        Conversion("convert IN OUT", "jpg", .jpeg),
        Conversion("convert IN -interlace JPEG OUT", "jpg", .jpeg),
        Conversion("convert IN -define jpeg:restart-interval=2 OUT", "jpg", .jpeg),
        Conversion("convert IN OUT", "gif", .gif),
        Conversion("convert GIF OUT", "gif", .gif),
        Conversion("convert IN -alpha off OUT", "bmp", .bmp),
        Conversion("convert IN -alpha set OUT", "bmp", .bmp),
        Conversion("convert IN -colors 16 -compress RLE OUT", "bmp", .bmp),
        Conversion("convert IN -monochrome BMP3:OUT", "bmp", .bmp),
        Conversion("convert IN BMP2:OUT", "bmp", .bmp),
        Conversion("convert IN OUT", "tiff", .tiff),
        Conversion("convert IN -endian MSB OUT", "tiff", .tiff),
        Conversion("convert IN TIFF64:OUT", "tiff", .tiff),
        Conversion("convert IN -orient LeftBottom OUT", "tiff", .tiff, orientation: 8),
        Conversion("convert IN -orient BottomRight OUT", "tiff", .tiff, orientation: 3),
        Conversion("convert IN OUT", "ico", .ico),
        Conversion("cwebp -quiet IN -o OUT", "webp", .webp),
        Conversion("cwebp -quiet -lossless IN -o OUT", "webp", .webp),
        Conversion("cwebp -quiet -metadata all IN -o OUT", "webp", .webp),
        Conversion("gif2webp -quiet GIF -o OUT", "webp", .webp),
        Conversion("avifenc -s 10 IN OUT", "avif", .avif),
        Conversion("avifenc -s 10 -l IN OUT", "avif", .avif),
        Conversion("avifenc -s 10 IN IN OUT", "avif", .avif),
        Conversion("avifenc -s 10 --irot 1 IN OUT", "avif", .avif, orientation: 8),
        Conversion("avifenc -s 10 --irot 3 --imir 1 IN OUT", "avif", .avif, orientation: 5),
        Conversion("avifenc -s 10 --imir 0 IN OUT", "avif", .avif, orientation: 4),
        Conversion("heif-enc IN -o OUT", "heic", .heic),
        Conversion("cjxl IN OUT --quiet", "jxl", .jxl, .unverifiable),
        Conversion("cjxl IN OUT --quiet --container=1", "jxl", .jxl),
        Conversion("cjxl PHOTO OUT --quiet", "jxl", .jxl),
        Conversion("cjxl TURNED OUT --quiet", "jxl", .jxl, orientation: 6),
    ]

    /// Runs the program in `folder`, which contains the sources, and returns the image.
    package func run(in folder: String) async throws -> [UInt8] {
        let output = "\(folder)/out.\(fileExtension)"
        let names = ["IN": "in.png", "PHOTO": "in.jpg", "TURNED": "turned.jpg", "GIF": "in.gif"]
        let words = arguments.map { word in
            names[word].map { "\(folder)/\($0)" }
                ?? word.replacingOccurrences(of: "OUT", with: output)
        }
        try await runSuccessfully(program, words)
        return try contents(of: output)
    }

    /// Makes `in.png`, `in.jpg`, `turned.jpg`, and `in.gif` with three frames.
    package static func makeSources(in folder: String) async throws {
        let source = ["-size", "\(width)x\(height)", "-seed", "1", "plasma:fractal"]
        try await runSuccessfully("convert", source + ["\(folder)/in.png"])
        try await runSuccessfully("convert", source + ["\(folder)/in.jpg"])
        var photo = try contents(of: "\(folder)/in.jpg")
        photo.insert(contentsOf: exifSegment(exif(6)), at: 2)
        try Data(photo).write(to: URL(filePath: "\(folder)/turned.jpg"))
        try await runSuccessfully(
            "convert",
            source + ["(", "+clone", "-flip", ")", "(", "+clone", "-flop", ")"]
                + ["\(folder)/in.gif"])
    }

    private static func find(_ program: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").map { "\($0)/\(program)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

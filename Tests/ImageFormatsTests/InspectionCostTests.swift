import Glibc
import ImageSamples
import TestSupport
import Testing

@testable import ImageFormats

/// Files made of the smallest parts that their format allows cost little more than others of the same length.
@Suite("Cost of the inspection", .serialized)
struct InspectionCostTests {
    private static let gif = Bytes("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0]
    private static let frame: Bytes = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2]
    private static let png = Bytes(ImageSample.png.bytes.prefix(33))
    private static let heif = box("ftyp", text("avif"), zeros(4), text("avif"))

    private static let entries = [Bytes](repeating: orientationEntry(0), count: 5_000)

    /// A head, and the part that is repeated behind it.
    private static let hostile: [(name: String, head: Bytes, part: Bytes)] = [
        ("GIF of zeros", gif, [0]), ("GIF of frames", gif, frame + [0]),
        ("GIF of sub-blocks", gif + frame, [1, 1]), ("GIF of extensions", gif, [0x21, 0xF9, 0]),
        ("JPEG of segments", [0xFF, 0xD8], [0xFF, 0xE0, 0, 2]),
        ("JPEG of Exif", [0xFF, 0xD8], exifSegment(exif(0))),
        ("JPEG of one long Exif", [0xFF, 0xD8], exifSegment(exif(entries, count: 5_000))),
        ("PNG of Exif", png, pngChunk("eXIf", exif(0))),
        ("JPEG of scans", [0xFF, 0xD8], [0xFF, 0xDA, 0, 2, 1]),
        ("JPEG of fill bytes", [0xFF, 0xD8], [0xFF]),
        ("PNG of chunks", png, pngChunk("tEXt")),
        ("AVIF of boxes", heif, box("free")), ("AVIF of meta boxes", heif, box("meta", zeros(4))),
        ("SVG of elements", Bytes("<svg>".utf8), Bytes("<a/>".utf8)),
        ("SVG of comments", Bytes("<svg>".utf8), Bytes("<!---->".utf8)),
        ("SVG of declarations", Bytes("<svg>".utf8), Bytes("<!a>".utf8)),
    ]

    private static let length = 400_000

    @Test func noByteCostsMoreThanAFewSteps() {
        // An SVG of markup is read byte by byte by a machine of one step a byte.
        let usual = cost(of: Bytes("<svg>".utf8), Bytes("<a b='c' d='e'/>".utf8))
        for (name, head, part) in Self.hostile {
            let times = cost(of: head, part) / usual
            #expect(times < 25, "\(name) costs \(times) times as much as markup")
        }
    }

    /// The processor time of this thread: the least of three runs.
    private func cost(of head: Bytes, _ part: Bytes) -> Double {
        let parts = (Self.length - head.count) / part.count
        let bytes = head + Bytes(repeatElement(part, count: parts).joined())
        let times = (0..<3).map { _ in
            let start = Self.processorTime
            var inspector = ImageInspector()
            bytes.withUnsafeBytes { inspector.consume($0) }
            _ = inspector.finish()
            return Self.processorTime - start
        }
        return Double(times.min() ?? 0) / Double(bytes.count)
    }

    /// Nanoseconds. clock_gettime(2)
    private static var processorTime: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

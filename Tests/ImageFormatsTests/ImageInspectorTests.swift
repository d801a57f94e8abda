import ImageFormats
import ImageSamples
import TestSupport
import Testing

@Suite("Image inspector")
struct ImageInspectorTests {
    @Test(arguments: ImageSample.all)
    func reportDoesNotDependOnTheChunks(_ sample: ImageSample) {
        for feeding in Feeding.all {
            #expect(inspect(sample.bytes, feeding) == sample.report, "\(feeding)")
        }
    }

    @Test(arguments: ImageSample.all)
    func truncatedFileIsNeverWhole(_ sample: ImageSample) {
        for length in 0..<sample.bytes.count {
            let report = inspect(sample.bytes.prefix(length), .byteByByte)
            #expect(report.completeness != .whole, "\(length) of \(sample.bytes.count) bytes")
        }
    }

    /// XML does not permit them.
    @Test(arguments: ImageSample.whole.filter { $0.report.mediaType != .svg })
    func bytesAfterTheEndAreTrailing(_ sample: ImageSample) {
        let report = inspect(sample.bytes + Bytes(repeating: 0x07, count: 40))
        #expect(report.mediaType == sample.report.mediaType)
        #expect(report.completeness == .whole)
        #expect(report.hasTrailingBytes)
    }

    @Test(arguments: ImageSample.all)
    func damageNeverTraps(_ sample: ImageSample) {
        var generator = SeededGenerator(seed: 42)
        for _ in 0..<500 {
            var bytes = sample.bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let extreme: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF]
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = extreme.randomElement(using: &generator) ?? 0
            }
            let whole = inspect(bytes)
            #expect(inspect(bytes, .byteByByte) == whole, "\(bytes)")
        }
    }

    @Test(arguments: ImageSample.all)
    func knowsTheTypeLongBeforeTheEnd(_ sample: ImageSample) {
        var inspector = ImageInspector()
        #expect(inspector.mediaType == nil)
        (sample.bytes + zeros(100)).prefix(80).withUnsafeBytes { inspector.consume($0) }
        #expect(inspector.mediaType == sample.report.mediaType || sample.bytes.count > 80)
    }

    @Test(arguments: [
        "", "x", "GIF88a and more text than a header", "BM is how this text begins, not a bitmap",
        "%PDF-1.7", "RIFF....WAVEfmt and so on, on and on", "{\"error\": \"not found\"}",
    ])
    func otherFilesAreNotImages(_ content: String) {
        for feeding in Feeding.all { #expect(inspect(text(content), feeding) == .notAnImage) }
    }

    /// The first could be the picture of a TGA, and its fields are not those of a cursor.
    @Test func fontsVideosAndUnknownPicturesAreNotImages() {
        #expect(inspect([0, 0, 2, 0, 1, 0] + zeros(60)) == .notAnImage)
        #expect(inspect([0, 1, 0, 0, 0, 12] + zeros(60)) == .notAnImage)
        #expect(inspect([0, 0, 1, 0xBA] + zeros(60)) == .notAnImage)
        #expect(inspect(box("ftyp", text("isom"), zeros(4), text("mp42"))) == .notAnImage)
    }

    @Test func knowsEarlyThatAFileIsNotAnImage() {
        var inspector = ImageInspector()
        text("<!DOCTYPE html><html><body>").withUnsafeBytes { inspector.consume($0) }
        #expect(inspector.mediaType == .other)
    }
}

import Foundation
import ImageFormats
import ImageSamples
import TestSupport
import Testing

/// The size that the inspector finds is the size for which a browser makes room.
@Suite(
    "Turned images in a browser", .serialized, .timeLimit(.minutes(2)),
    .enabled("needs chromium (`.ci/dependencies browser`), playwright and encoders") {
        try await BrowserDriver.isInstalled()
            && Conversion.available.contains { $0.orientation == 8 }
    })
struct TurnedImageTests {
    private static let sizes = """
        Promise.all([...document.images].map(async image => {
          await image.decode()
          return [image.naturalWidth, image.naturalHeight]
        }))
        """

    @Test func chromiumMakesRoomForTheSizeThatTheInspectorFinds() async throws {
        try await withTestScope { scope in
            let folder = try TemporaryDirectory(in: scope)
            let images = try await images(in: folder.path)
            let tags = images.enumerated().map { number, image in
                "<img src='data:\(inspect(image.bytes).mediaType?.name ?? "");base64,"
                    + "\(Data(image.bytes).base64EncodedString())'>"
            }
            let page = try folder.write(tags.joined(), to: "page.html")
            let browser = try await BrowserDriver(in: scope)
            try await browser.open("file://" + page)
            let shown: [[Int]] = try await browser.evaluate(Self.sizes)
            #expect(shown.count == images.count)
            for (image, size) in zip(images, shown) {
                let report = inspect(image.bytes)
                #expect([report.width, report.height] == size, "\(image.name)")
            }
        }
    }

    /// Images of 60 by 40 stored pixels in the formats that Chromium shows.
    private func images(in folder: String) async throws -> [(name: String, bytes: Bytes)] {
        let source = "\(folder)/in.png"
        let photo = "\(folder)/in.jpg"
        for path in [source, photo] {
            try await runSuccessfully(
                "convert", ["-size", "60x40", "-seed", "1", "plasma:fractal", path])
        }
        let (png, jpeg) = (try contents(of: source), try contents(of: photo))
        var images: [(String, Bytes)] = []
        for number in 0...9 {
            let block = exif(number)
            images.append(("JPEG \(number)", insert(exifSegment(block), into: jpeg, at: 2)))
            images.append(("PNG \(number)", insert(chunk(block), into: png, at: 33)))
        }
        let segments = [exifSegment(exif(6)), exifSegment(exif(1))]
        images.append(("JPEG, 6 and 1", insert(join(segments[0], segments[1]), into: jpeg, at: 2)))
        images.append(("JPEG, 1 and 6", insert(join(segments[1], segments[0]), into: jpeg, at: 2)))
        images.append(
            ("JPEG, at the end", insert(segments[0], into: jpeg, at: jpeg.count - 2)))
        images.append(("PNG, at the end", insert(chunk(exif(6)), into: png, at: png.count - 12)))
        for command in [
            ["--irot", "1"], ["--irot", "3", "--imir", "0"], ["--imir", "1"],
            ["--clap", "59,1,39,1,-1,2,-1,2", "--irot", "1"], ["--clap", "40,1,20,1,0,1,0,1"],
        ] {
            let output = "\(folder)/out.avif"
            try await runSuccessfully("avifenc", ["-s", "10"] + command + [source, output])
            images.append(("AVIF \(command)", try contents(of: output)))
        }
        let webp = "\(folder)/out.webp"
        try await runSuccessfully("cwebp", ["-quiet", source, "-o", webp])
        images.append(("WebP", extended(try contents(of: webp))))
        return images
    }

    private func insert(_ part: Bytes, into bytes: Bytes, at index: Int) -> Bytes {
        join(Bytes(bytes[..<index]), part, Bytes(bytes[index...]))
    }

    /// A chunk of PNG with Exif and with its checksum, without which a browser ignores it.
    private func chunk(_ block: Bytes) -> Bytes {
        let body = text("eXIf") + block
        return join(big32(block.count), body, big32(Int(SampleImage.crc32(body))))
    }

    /// A WebP with Exif, and with the header that announces it.
    private func extended(_ bytes: Bytes) -> Bytes {
        webp(
            riffChunk("VP8X", [8, 0, 0, 0], little24(59), little24(39)), Bytes(bytes[12...]),
            riffChunk("EXIF", exif(6)))
    }
}

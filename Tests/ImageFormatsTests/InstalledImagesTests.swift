import Foundation
import ImageFormats
import ImageSamples
import Testing

/// Files of several programs, none of them made for these tests.
@Suite("Installed images", .timeLimit(.minutes(5)))
struct InstalledImagesTests {
    private static let folders = ["/usr/share/backgrounds", "/usr/share/icons"]
        .filter { FileManager.default.fileExists(atPath: $0) }

    private static let types: [String: MediaType] = [
        "png": .png, "jpg": .jpeg, "jpeg": .jpeg, "gif": .gif, "webp": .webp, "svg": .svg,
    ]

    @Test(
        .enabled(if: !folders.isEmpty, "needs icons or backgrounds in /usr/share"),
        arguments: folders)
    func installedImagesAreRecognisedAndWhole(_ folder: String) throws {
        for (url, type) in Self.images(in: folder) {
            let report = inspect([UInt8](try Data(contentsOf: url)))
            #expect(report.mediaType == type, "\(url.path)")
            #expect(report.completeness == .whole, "\(url.path)")
            #expect(report.width != nil || type == .svg, "\(url.path)")
        }
    }

    private static func images(in folder: String) -> [(URL, MediaType)] {
        let root = URL(fileURLWithPath: folder)
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        return (files?.allObjects ?? []).compactMap { file in
            guard let url = file as? URL, let type = types[url.pathExtension] else { return nil }
            return FileManager.default.fileExists(atPath: url.path) ? (url, type) : nil
        }
    }
}

import ArgumentParser
import Foundation
import ImageFormats

/// A photograph of 4,000 pixels that exists only in smaller sizes.
struct Photograph {
    struct Smaller {
        let side: Int
        let bytes: [UInt8]
        let width: Int
        let height: Int
    }

    let width: Int
    let height: Int
    let smaller: [Smaller]

    /// Those of which a folder has files with names like `256-NAME.jpg`.
    static func all(in folder: String) throws -> [Photograph] {
        var sizes: [Substring: [Smaller]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
            let parts = name.split(separator: "-", maxSplits: 1)
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
            var inspector = ImageInspector()
            bytes.withUnsafeBytes { inspector.consume($0) }
            let report = inspector.finish()
            guard parts.count == 2, let side = Int(parts[0]), let width = report.width,
                let height = report.height
            else { throw ValidationError("\(folder)/\(name) is not an image SIDE-NAME") }
            sizes[parts[1], default: []].append(
                Smaller(side: side, bytes: bytes, width: width, height: height))
        }
        return sizes.sorted { $0.key < $1.key }.map { _, smaller in
            let shape = smaller[0]
            let scale = 4000 / Double(max(shape.width, shape.height))
            return Photograph(
                width: Int(scale * Double(shape.width)), height: Int(scale * Double(shape.height)),
                smaller: smaller)
        }
    }
}

import Foundation

/// Images that Debian packages install on this machine.
public enum RealImages {
    /// The images of a package.
    public struct Source: Sendable {
        /// The package that provides them.
        public let package: String
        public let root: String
    }

    /// Large photographs and drawings: JPEG and PNG, up to 16 MB.
    public static let backgrounds = Source(
        package: "mate-backgrounds", root: "/usr/share/backgrounds/mate")
    /// Many small icons: PNG, from 16 to 48 pixels.
    public static let icons = Source(package: "tango-icon-theme", root: "/usr/share/icons/Tango")
    /// Icons of any other package, used if the packages above are missing.
    public static let otherIcons = Source(package: "adwaita-icon-theme", root: "/usr/share/icons")

    /// The paths of all JPEG and PNG files (no links), sorted. Falls back to the other icons if the
    /// package is missing.
    ///
    /// - Throws: `TestFailure` naming the package if there is no image at all.
    public static func paths(of source: Source) throws -> [String] {
        let paths = images(under: source.root)
        if !paths.isEmpty { return paths }
        let others = images(under: otherIcons.root)
        guard !others.isEmpty else {
            throw TestFailure("no images at \(source.root): install the package \(source.package)")
        }
        return others
    }

    private static func images(under root: String) -> [String] {
        guard let walk = FileManager.default.enumerator(atPath: root) else { return [] }
        var paths: [String] = []
        while let name = walk.nextObject() as? String {
            guard name.hasSuffix(".png") || name.hasSuffix(".jpg") else { continue }
            let type = walk.fileAttributes?[.type] as? FileAttributeType
            if type == .typeRegular { paths.append("\(root)/\(name)") }
        }
        return paths.sorted()
    }
}

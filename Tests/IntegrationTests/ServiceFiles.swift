import Foundation

/// Files of the source tree that these tests use.
enum ServiceFiles {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// A program in `Tests/Service`.
    static func program(_ name: String) -> String { path("Tests/Service/\(name)") }

    /// A unit in `etc/systemd`, such as `system/cached.service`.
    static func unit(_ name: String) -> String { path("etc/systemd/\(name)") }

    static func path(_ name: String) -> String {
        root.appending(path: name).path(percentEncoded: false)
    }
}

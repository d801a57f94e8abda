import Foundation
import Testing

@testable import cachectl

/// A screen that was looked at and found good, as a text file in `Screens/`.
///
///     CACHED_TEST_RECORD=1 swift test --filter cachectlTests
///
/// stores anew what is drawn; the difference is then seen in the repository.
enum StoredScreen {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Screens")
    private static let isRecording =
        ProcessInfo.processInfo.environment["CACHED_TEST_RECORD"] != nil

    /// Holds lines against the stored ones.
    static func expect(
        _ lines: [String], in name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let file = folder.appending(path: name)
        let drawn = lines.joined(separator: "\n") + "\n"
        if isRecording { try Data(drawn.utf8).write(to: file) }
        let stored = try String(contentsOf: file, encoding: .utf8)
        #expect(drawn == stored, "\(name) is drawn differently", sourceLocation: sourceLocation)
    }
}

extension StyledLine {
    /// The line as a terminal takes it, escapes made visible.
    func visible(_ colors: TerminalCapabilities.Colors) -> String {
        encoded(TerminalCapabilities(isUnicode: true, colors: colors)).replacing(
            "\u{1B}", with: "␛")
    }
}

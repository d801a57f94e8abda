import Foundation
import Testing

@testable import cachectl

/// A screen that a person has reviewed, stored as a text file in `Screens/`. The following command
/// stores the screens as they are drawn now; review the difference in the repository:
///
///     CACHED_TEST_RECORD=1 swift test --filter cachectlTests
enum StoredScreen {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Screens")
    private static let isRecording =
        ProcessInfo.processInfo.environment["CACHED_TEST_RECORD"] != nil

    /// Compares lines with the stored screen.
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
    /// The line with its escape sequences made visible.
    func visible(_ colors: TerminalCapabilities.Colors) -> String {
        encoded(TerminalCapabilities(isUnicode: true, colors: colors)).replacing(
            "\u{1B}", with: "␛")
    }
}

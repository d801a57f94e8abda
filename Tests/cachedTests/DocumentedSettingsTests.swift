import Foundation
import Testing

@testable import cached

/// The table of `docs/configuration.md` against the settings of the daemon.
@Suite struct DocumentedSettingsTests {
    @Test func everySettingHasARowAndThereIsNoOther() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../docs/configuration.md")
        let page = try String(contentsOf: file.standardized, encoding: .utf8)
        let rows = page.matches(of: /\| `--([a-z-]+)[^|]*\| `(CACHED?_[A-Z_]+)`/)
        let documented = rows.map { "--\($0.1) \($0.2)" }
        let settings = SettingName.allCases.map { "--\(Self.option($0)) \($0.rawValue)" }
        #expect(documented.sorted() == settings.sorted())
    }

    private static func option(_ name: SettingName) -> String {
        name.rawValue.split(separator: "_").dropFirst().joined(separator: "-").lowercased()
    }
}

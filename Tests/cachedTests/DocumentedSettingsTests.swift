import Foundation
import Testing

@testable import cached

/// `docs/configuration.md` and `etc/cached.conf` against the settings of the daemon.
@Suite struct DocumentedSettingsTests {
    @Test func everySettingHasARowAndThereIsNoOther() throws {
        let page = try text(of: "docs/configuration.md")
        let rows = page.matches(of: /\| `--([a-z-]+)[^|]*\| `(CACHED?_[A-Z_]+)`/)
        let documented = rows.map { "--\($0.1) \($0.2)" }
        let settings = SettingName.allCases.map { "--\(Self.option($0)) \($0.rawValue)" }
        #expect(documented.sorted() == settings.sorted())
    }

    @Test func thePageNamesThoseThatNeedARestart() throws {
        let page = try text(of: "docs/configuration.md")
        let list = try #require(page.firstMatch(of: /These settings need a restart: ([^.]*)\./))
        let documented = list.1.matches(of: /`--([a-z-]+)`/).map { "--\($0.1)" }
        let settings = SettingName.allCases.filter(\.needsRestart).map { "--\(Self.option($0))" }
        #expect(documented.sorted() == settings.sorted())
    }

    @Test func theExampleMarksThoseThatNeedARestart() throws {
        let blocks = try text(of: "etc/cached.conf").split(separator: "\n\n")
        for setting in SettingName.allCases {
            let block = try #require(blocks.first { $0.contains("\n#\(setting.rawValue)=") })
            #expect(block.contains("Restart.\n") == setting.needsRestart, "\(setting.rawValue)")
        }
    }

    private func text(of file: String) throws -> String {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        return try String(contentsOf: root.appending(path: file), encoding: .utf8)
    }

    private static func option(_ name: SettingName) -> String {
        name.rawValue.split(separator: "_").dropFirst().joined(separator: "-").lowercased()
    }
}

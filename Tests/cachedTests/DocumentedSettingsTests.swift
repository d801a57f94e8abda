import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import cached

/// The documents that have every setting against the table of settings. `make settings` rewrites the two in the
/// repository; help and manual pages are made of the table.
@Suite(.timeLimit(.minutes(5))) struct DocumentedSettingsTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../..").standardized

    /// - Parameter part: makes the document of the one that there is.
    private func check(_ path: String, _ part: (String) throws -> String) throws {
        let file = Self.root.appending(path: path)
        let text = try String(contentsOf: file, encoding: .utf8)
        let expected = try part(text)
        if ProcessInfo.processInfo.environment["CACHED_TEST_WRITE"] != nil {
            try expected.write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(text == expected, "\(path) differs from the table; run `make settings`")
        }
    }

    @Test func theExampleHasTheTable() throws {
        try check("etc/cached.conf") { text in
            let introduction = try #require(text.firstRange(of: "\n## ")).lowerBound
            let sections = Setting.sections.map { title, rows in
                "\n## \(title)\n" + rows.map { "\n" + Self.paragraph($0) }.joined()
            }
            return text[..<introduction] + sections.joined()
        }
    }

    /// The lines of a setting in `etc/cached.conf`.
    private static func paragraph(_ setting: Setting) -> String {
        // The line below the explanation shows a default that has a text.
        var text = setting.help
        if !setting.words.isEmpty { text += " One of: \(setting.words.joined(separator: ", "))." }
        text += setting.defaultText == nil || setting.separator != nil ? " \(setting.notes)" : ""
        text += setting.needsRestart ? " Restart." : ""
        var lines = ["#"]
        for word in text.split(separator: " ") {
            if lines[lines.count - 1].count + word.count >= 106 { lines.append("#") }
            lines[lines.count - 1] += " \(word)"
        }
        return (lines + ["#\(setting.name)=\(setting.defaultText ?? "")"])
            .map { "\($0)\n" }.joined()
    }

    @Test func thePageHasTheTable() throws {
        try check("docs/lookup/settings.md") { text in
            let parts = text.split(separator: /<!-- (end of )?settings -->\n/)
            try #require(parts.count == 3)
            let rows = Setting.all.map { setting in
                let value = setting.placeholder.replacing("|", with: "\\|")
                let standard = setting.defaultText.map { "`\($0)`" } ?? setting.otherwise
                return "| `--\(setting.option) \(value)` | `\(setting.name)` | \(standard) | "
                    + (setting.needsRestart ? "restart |\n" : "|\n")
            }
            let table = "| option | variable | default | |\n|---|---|---|---|\n" + rows.joined()
            return "\(parts[0])<!-- settings -->\n\(table)<!-- end of settings -->\n\(parts[2])"
        }
    }

    @Test func helpShowsEachSetting() {
        let help = Self.inOneLine(CachedCommand.helpMessage())
        for setting in Setting.all {
            let option = "--\(setting.option) <\(setting.placeholder.lowercased())>"
            let line = "\(option) \(setting.help) \(setting.notes) (\(setting.name))"
            #expect(help.contains(line), "\(setting.name)")
        }
    }

    @Test func helpIsInGroupsOfWhichTheFirstOneIsTheWayIn() {
        let groups = CachedCommand.helpMessage().matches(of: /(?m)^([A-Z ]+):$/).map(\.1)
        #expect(groups.first == "START HERE")
        #expect(groups.count > 5)
    }

    private static func inOneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test func theManualPagesHaveEachSettingInTheOrderOfTheTable() async throws {
        try await withTestScope { scope in
            let pages = try TemporaryDirectory(in: scope)
            let programs = URL(filePath: try BuiltProducts.program("cached"))
            try await runSuccessfully(
                Self.root.appending(path: "packaging/manual").path,
                [programs.deletingLastPathComponent().path, pages.path])
            func page(_ name: String) throws -> String {
                try String(contentsOfFile: pages.file(name), encoding: .utf8)
                    .replacing("\\-", with: "-")
            }
            let options = try page("cached.8").matches(of: /(?m)^\.It Fl -([a-z-]+) Ar\b/).map(\.1)
            #expect(options.map(String.init) == ["config"] + Setting.all.map(\.option))
            let settings = try page("cached.conf.5")
            let names = settings.matches(of: /(?m)^\.It Ev (CACHED?_[A-Z_]+)$/).map(\.1)
            #expect(names.map(String.init) == Setting.all.map(\.name))
            for setting in Setting.all {
                #expect(
                    Self.inOneLine(settings).contains("\(setting.help) \(setting.notes)"),
                    "\(setting.name)")
            }
        }
    }
}

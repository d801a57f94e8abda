import Foundation
import Glibc
import Logging
import Testing

@testable import cached

@Suite struct LogLineTests {
    private func line(
        _ message: String, _ fields: [(name: String, value: String)] = [],
        level: Logger.Level = .warning, showsQueries: Bool = false, _ format: LogFormat
    ) -> String {
        LogLine(
            level: level, message: message, fields: fields, time: 0, showsQueries: showsQueries
        ).text(format)
    }

    @Test func theMessageComesBeforeTheFields() {
        let fields = [(name: "path", value: "/a b"), (name: "count", value: "3")]
        #expect(line("not found", fields, .journal) == #"<4>not found path="/a b" count=3"#)
        let text = line("not found", fields, .text)
        let form =
            /19(69|70)-[0-9-]{5}T[0-9:]{8}[+-][0-9]{4} warning: not found path="\/a b" count=3/
        #expect(text.wholeMatch(of: form) != nil, "\(text)")
    }

    @Test func aFieldOfSeveralWordsIsQuoted() {
        let fields = [
            (name: "a", value: ""), (name: "b", value: #"x="y\z""#), (name: "c", value: #"\"#),
        ]
        #expect(line("m", fields, .journal) == #"<4>m a="" b="x=\"y\\z\"" c=\"#)
    }

    @Test(arguments: [
        (Logger.Level.trace, 7), (.debug, 7), (.info, 6), (.notice, 5), (.warning, 4), (.error, 3),
        (.critical, 2),
    ])
    func levelsHaveThePrioritiesOfSyslog(level: Logger.Level, priority: Int) {
        #expect(line("m", level: level, .journal) == "<\(priority)>m")
    }

    /// A line end would forge a line, and the others command a terminal or hide text.
    @Test(arguments: [
        "\n", "\r", "\u{1B}[31m", "\u{7F}", "\u{9B}1m", "\u{202E}", "\u{200B}", "\u{2028}",
    ])
    func nothingFromOutsideReachesTheLogRaw(text: String) throws {
        let hidden = try #require(text.unicodeScalars.first)
        for format in [LogFormat.text, .journal, .json] {
            let line = line("a\(text)b", [(name: "url", value: "http://h/\(text)x")], format)
            #expect(!line.unicodeScalars.contains(hidden), "\(format)")
            let code = String(hidden.value, radix: 16)
            let escape = format == .json ? "\\u00" : "\\u{\(code.uppercased())}"
            #expect(line.contains(format == .json && code.count == 4 ? "\\u\(code)" : escape))
        }
    }

    @Test func jsonIsOneObjectWhoseStringsComeBack() throws {
        let value = "\"\\\n\u{1B}\u{E0041}ü😀"
        let line = line("m", [(name: "reason", value: value)], level: .error, .json)
        #expect(!line.contains("\n"))
        let object = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        #expect(object["reason"] == value)
        #expect(object["message"] == "m")
        #expect(object["level"] == "error")
        #expect(object.keys.sorted() == ["level", "message", "reason", "time"])
    }

    @Test(arguments: [
        ("https://h/a.png?token=x", "https://h/a.png?…"),
        ("to http://h/a?b#c and http://i?d.", "to http://h/a?… and http://i?…"),
        ("https://me:secret@h/a", "https://…@h/a"),
        ("why? because", "why? because"), ("https://h/a@b", "https://h/a@b"),
        (#""http://h/?q" is wrong"#, #""http://h/?…" is wrong"#),
    ])
    func queriesAreShownOnlyIfAsked(text: String, shown: String) {
        let fields = [(name: "url", value: text)]
        #expect(line(text, [], .journal) == "<4>\(shown)")
        #expect(line("m", fields, .json).contains(shown.replacing("\"", with: "\\\"")))
        #expect(line(text, [], showsQueries: true, .journal) == "<4>\(text)")
    }
}

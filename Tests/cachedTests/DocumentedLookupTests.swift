import CacheValues
import CacheWire
import Foundation
import Testing

/// The pages of docs/lookup have a row for everything that there is.
@Suite(.timeLimit(.minutes(1))) struct DocumentedLookupTests {
    private static let root = URL(filePath: #filePath).appending(path: "../../..").standardized

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    /// The words in backticks of the first cell of each row.
    private func rows(_ page: String) throws -> [[String]] {
        try text(page).split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            line.dropFirst(2).split(separator: "|")[0].matches(of: /`([^`]+)`/)
                .map { String($0.1) }
        }
    }

    @Test func everyKindOfFailureHasItsRow() throws {
        let rows = Set(try rows("docs/lookup/failures.md").joined())
        for kind in Failure.Kind.allCases { #expect(rows.contains(kind.rawValue), "\(kind)") }
    }

    /// The words with which the libraries fail without the daemon, and the groups of words that some of them have.
    @Test(arguments: [
        ("clients/python/cached_client", ".py", #"CacheError\(\s*"(\w+)""#),
        ("clients/javascript", ".js", #"CacheError\(\s*'(\w+)'"#),
        (
            "clients/CachedClient/Sources/CachedClient/Images", "CacheFailure.swift",
            #"(?m)^        case (\w+)$"#
        ),
        ("clients/gtk", ".h", #"(?m)^    CACHED_ERROR_(\w+),?$"#),
    ])
    func everyKindOfTheLibrariesHasItsRow(folder: String, ending: String, kind: String) throws {
        let rows = Set(try rows("docs/lookup/failures.md").joined())
        let files = try #require(
            FileManager.default.enumerator(atPath: Self.root.appending(path: folder).path))
        let names = files.compactMap { $0 as? String }
            .filter { $0.hasSuffix(ending) && !$0.contains("node_modules") && !$0.contains("test") }
        let expression = try Regex(kind, as: (Substring, Substring).self)
        let kinds = try names.flatMap { name in
            try text("\(folder)/\(name)").matches(of: expression).map { String($0.1) }
        }
        #expect(Set(kinds).count > 5)
        for kind in Set(kinds) { #expect(rows.contains(kind), "\(kind)") }
    }

    @Test func everyCallHasItsRowAndItsRights() throws {
        let calls = try text("etc/io.cached.Cache.varlink").matches(of: /(?m)^method (\w+)/)
            .map { String($0.1) }
        #expect(calls.count > 10)
        let explained = Set(try rows("docs/lookup/calls.md").joined())
        let permitted = Set(try rows("docs/lookup/rights.md").joined())
        for call in calls {
            #expect(explained.contains(call), "calls.md lacks \(call)")
            #expect(permitted.contains(call), "rights.md lacks \(call)")
        }
    }

    @Test func everySignalHasItsRow() throws {
        let rows = Set(try rows("docs/lookup/signals-statuses-log.md").joined())
        let names = try ["CachedCommand", "Daemon"].flatMap { file in
            try text("Sources/cached/\(file).swift").matches(of: /\bSIG[A-Z0-9]{3,}\b/)
                .map { String($0.0) }
        }
        #expect(names.count > 4)
        for name in Set(names) where name != "SIGPIPE" { #expect(rows.contains(name), "\(name)") }
    }

    @Test func theUnitsOfThePageAreRead() throws {
        let page = try text("docs/lookup/settings.md")
        let section = try #require(page.split(separator: "<!-- units -->").dropFirst().first)
        let table = section.split(separator: "\n\n")[0].split(separator: "\n").dropFirst(2)
        #expect(table.count > 5)
        for row in table {
            let cells = row.split(separator: "|").map(String.init)
            let isSize = cells[1].contains("bytes")
            func isRead(_ text: String) -> Bool {
                isSize ? ByteSize(text) != nil : TimeSpan(text) != nil
            }
            for unit in cells[0].matches(of: /`(\w+)`/).map(\.1) {
                #expect(isRead("1.5\(unit)") && isRead("2\(unit.uppercased())"), "\(unit)")
            }
            let example = try #require(cells[2].firstMatch(of: /`(.+)`/)?.1)
            #expect(isRead(String(example)), "\(example)")
        }
    }

    /// Each is a part of a message in the source.
    @Test func theMessagesOfWhyRefusedAreThoseOfTheProgram() throws {
        let folder = Self.root.appending(path: "Sources").path
        let files =
            FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        let source = try files.filter { $0.hasSuffix(".swift") }
            .map { try text("Sources/" + $0) }.joined()
        let messages = try rows("docs/do/why-refused.md").joined()
        #expect(messages.count > 8)
        for message in messages { #expect(source.contains(message), "\(message)") }
    }
}

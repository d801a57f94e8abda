import Foundation
import TestSupport
import Testing

/// The shelves of docs: links, headings, and the number of words.
@Suite("Shape of documents", .timeLimit(.minutes(1)))
struct DocumentShapeTests {
    /// The paths of all pages, below the root of the repository.
    private static let pages: [String] = {
        let found = FileManager.default.enumerator(atPath: Libcached.root + "docs")?
            .compactMap { $0 as? String }.filter { $0.hasSuffix(".md") }
        let clients = ["CachedClient", "cpp", "javascript", "python", "qml", "rust"]
        return (found ?? []).sorted().map { "docs/" + $0 }
            + clients.map { "clients/\($0)/README.md" }
            + ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
            + ["examples/README.md", "examples/gtk/README.md"]
    }()

    /// A page without its code.
    private static func prose(_ page: String) throws -> String {
        try String(contentsOfFile: Libcached.root + page, encoding: .utf8)
            .replacing(/(?ms)^ *```.*?^ *```$/, with: "")
    }

    private static func headings(_ prose: String) -> [String] {
        prose.matches(of: /(?m)^#+ (.*)$/).map { match in
            match.1.replacing(/\[([^\]]*)\]\([^)]*\)/, with: { $0.1 }).lowercased()
                .filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
                .replacing(" ", with: "-")
        }
    }

    @Test(arguments: pages)
    func everyLinkLeadsSomewhere(page: String) throws {
        let prose = try Self.prose(page)
        let targets =
            prose.matches(of: /\]\(\s*([^()\s]+)\)/).map(\.1)
            + prose.matches(of: /(?:src|href)="([^"]+)"/).map(\.1)
        for target in targets where !target.contains(/^[a-z-]+:/) {
            let parts = target.split(separator: "#", omittingEmptySubsequences: false)
            let folder = URL(filePath: Libcached.root + page).deletingLastPathComponent()
            let file =
                parts[0].isEmpty
                ? Libcached.root + page : folder.appending(path: parts[0]).standardized.path
            #expect(FileManager.default.fileExists(atPath: file), "\(page): \(target)")
            guard parts.count == 2, file.hasSuffix(".md") else { continue }
            let anchors = Self.headings(
                try Self.prose(String(file.dropFirst(Libcached.root.count))))
            #expect(anchors.contains(String(parts[1])), "\(page): \(target)")
        }
    }

    /// The changelog has the same headings for each version.
    @Test(arguments: pages.filter { $0 != "CHANGELOG.md" })
    func noTwoHeadingsOfAPageAreEqual(page: String) throws {
        let headings = Self.headings(try Self.prose(page))
        #expect(Set(headings).count == headings.count, "\(headings.sorted())")
    }

    /// Rows after an empty line are no table, and are shown as text.
    @Test(arguments: pages)
    func noTableHasAHole(page: String) throws {
        let lines = try Self.prose(page).split(
            separator: "\n", omittingEmptySubsequences: false)
        for (line, next) in zip(lines.indices, lines.indices.dropFirst())
        where lines[line].isEmpty && lines[next].hasPrefix("|") {
            let rule = lines.indices.contains(next + 1) ? lines[next + 1] : ""
            #expect(rule.hasPrefix("|-"), "\(lines[next])")
        }
    }

    /// The words that a person wrote and another one reads: no code, no numbers, and nothing that a program writes.
    private static func words(_ page: String) throws -> Int {
        let prose = try prose(page)
            .replacing(/(?s)<!-- (?:settings|table|results) -->.*?<!-- (?:end of|\/)/, with: "")
        guard !prose.contains("<!-- Made by") else { return 0 }
        return prose.split(whereSeparator: \.isWhitespace)
            .filter { $0.contains(where: { $0.isLetter }) }.count
    }

    /// A page that grows beyond its shelf is two pages.
    @Test(arguments: [
        ("learn", 900, 1_600), ("do", 500, 6_500), ("lookup", 3_700, 14_400),
        ("understand", 2_000, 13_200),
    ])
    func aShelfHasRoomForSoManyWords(shelf: String, ofAPage: Int, inAll: Int) throws {
        var sum = 0
        for page in Self.pages where page.hasPrefix("docs/\(shelf)/") {
            let words = try Self.words(page)
            #expect(words <= ofAPage, "\(page)")
            sum += words
        }
        #expect(0 < sum && sum <= inAll)
    }

    /// Write less about something else, or raise the number with a reason.
    @Test func allDocumentsHaveRoomForSoManyWords() throws {
        let sum = try Self.pages.map(Self.words).reduce(0, +)
        #expect(10_000 < sum && sum <= 40_000)
    }

    /// Each page is on a shelf, and the first page leads to it.
    @Test func theFirstPageLeadsToAllOthers() throws {
        let links = try Self.prose("docs/README.md").matches(of: /\]\(([^()\s#]+)/)
            .map { String($0.1) }
        for page in Self.pages
        where page.wholeMatch(of: /docs\/(learn|do|lookup|understand)\/[^\/]+/) != nil {
            #expect(links.contains(String(page.dropFirst("docs/".count))), "\(page)")
        }
        for page in Self.pages where page.hasPrefix("clients/") {
            #expect(links.contains("../" + page), "\(page)")
        }
    }

    /// A page that was moved leaves a line at its old address.
    @Test func oldAddressesSayWhereThePageWent() throws {
        for page in Self.pages where page.wholeMatch(of: /docs\/(decisions\/)?[^\/]+/) != nil {
            guard page != "docs/README.md" else { continue }
            let text = try String(contentsOfFile: Libcached.root + page, encoding: .utf8)
            #expect(text.hasPrefix("This page moved to ["), "\(page)")
            #expect(text.split(separator: "\n").count == 1, "\(page)")
        }
    }
}

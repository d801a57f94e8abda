import Foundation
import TestSupport
import Testing

/// The code and the commands in documents run, as they are printed.
///
/// Each block is run by itself, in a ``DocumentPlace``. A block must succeed; commands that are shown with their output
/// must print that (``ConsoleScript``). A block of JSON is a call, which the daemon must answer without an error. A block can
/// say more after its language, as docs/do/write-documents.md has it for writers:
///
/// - `cached`: `a.png`, `a.jpg` and `logo.png` are in the cache before.
/// - `damaged`: `a.png` is, and its bytes have changed.
/// - `elephants`: `elephants.jpg` is in the cache before.
/// - `prints=TEXT`: the output contains the text.
/// - `status=1`: the exit status.
/// - `alone`: no daemon runs.
/// - `dry`: programs that build or install are replaced by ones that only check that the command exists.
/// - `varlink`: `python3` has the package `varlink`; not run without `CACHED_TEST_PYTHON`.
/// - `system`: `/run` and `/var/cache` are empty ones, the user `cached` exists, and the commands run as root.
/// - `by-hand`: it is not run, because it needs packages that the tests do not have. Python must be valid.
/// - `terminal`: the lines are typed into a terminal, and `q` leaves the last command.
@Suite("Code in documents", .timeLimit(.minutes(10)))
struct DocumentTests {
    /// The Swift library of a build with a sanitizer cannot be linked without it.
    private static let code =
        ["c", "cpp", "python", "js"] + (isSanitized ? [] : ["swift"])
        + (Libcached.hasRust ? ["rust"] : [])
    private static let commands = ["sh", "console", "json"]

    private static func blocks(_ document: String, _ languages: [String]) -> [MarkdownBlock] {
        ((try? MarkdownBlock.blocks(of: Libcached.root + document)) ?? []).filter {
            languages.contains($0.language) && $0.settings["by-hand"] == nil
                && ($0.settings["varlink"] == nil || DocumentPlace.pythonWithVarlink != nil)
        }
    }

    private static let pages: [String] = {
        let names = FileManager.default.enumerator(atPath: Libcached.root + "docs")?
            .compactMap { $0 as? String }
        // DocumentedNamesTests runs the lines of file-names.md, and GalleryDocumentTests those of the gallery.
        let others = ["lookup/file-names.md"] + GalleryDocumentTests.pages
        let docs = (names ?? []).filter { $0.hasSuffix(".md") && !others.contains($0) }
        return ["README.md", "CONTRIBUTING.md"] + docs.sorted().map { "docs/" + $0 }
    }()

    private static let blocks =
        pages.flatMap { blocks($0, code + commands) }
        + ["CachedClient", "cpp", "javascript", "python", "rust"].flatMap {
            blocks("clients/\($0)/README.md", code)
        }

    @Test func eachLanguageHasCode() {
        let found = Self.blocks.map(\.language)
        for language in Self.code + Self.commands {
            #expect(found.contains(language), "\(language)")
        }
    }

    @Test func everyDocumentIsRead() {
        #expect(Self.pages.count > 15)
        #expect(Self.blocks.count > 50)
    }

    @Test func pythonThatIsNotRunIsValid() async throws {
        let texts = try Self.pages.flatMap { try MarkdownBlock.blocks(of: Libcached.root + $0) }
            .filter { $0.language == "python" && $0.settings["by-hand"] != nil }
        #expect(!texts.isEmpty)
        for block in texts {
            let check = "import sys; compile(sys.stdin.read(), 'block', 'exec')"
            let output = try await TestSupport.run(
                "python3", ["-c", check], environment: minimalEnvironment(),
                input: Array(block.text.utf8))
            #expect(output.status == .success, "\(block)\n\(output.errorText)")
        }
    }

    @Test(arguments: blocks)
    func runs(_ block: MarkdownBlock) async throws {
        if block.settings["system"] != nil, geteuid() != 0 { return }
        try await withTestScope { scope in
            let place = try await DocumentPlace(for: block, in: scope)
            if block.settings["terminal"] != nil { return try await place.type(block.text) }
            if block.language == "json" { return try await place.call(block.text) }
            let output = try await place.run(block)
            let status = block.settings["status"].flatMap { Int32($0) } ?? 0
            #expect(
                output.status == .exited(status), "\(block)\n\(output.text)\n\(output.errorText)")
            if let expected = block.settings["prints"] {
                #expect(output.text.contains(expected), "\(block) printed\n\(output.text)")
            }
        }
    }
}

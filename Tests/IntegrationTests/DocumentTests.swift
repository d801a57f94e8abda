import Foundation
import TestSupport
import Testing

/// The code in documents runs, as it is printed.
///
/// Blocks in C, Swift, Python, JavaScript and for the shell are run, each by itself, in a home directory whose daemon and cache
/// are where everybody looks. `https://example.com` is an origin that has `a.png` to `d.png`, and answers others with 404.
/// A block must succeed. It can say more after its language:
///
/// - `cached`: `a.png` is in the cache before.
/// - `prints=TEXT`: the output contains the text.
/// - `status=1`: the exit status.
/// - `alone`: no daemon runs.
///
/// A block in C without `main` is the inside of a function, after the `#include` lines of the block.
@Suite("Code in documents", .timeLimit(.minutes(10)))
struct DocumentTests {
    /// The Swift library of a build with a sanitizer cannot be linked without it.
    private static let languages = ["c", "python", "js", "sh"] + (isSanitized ? [] : ["swift"])

    private static func blocks(_ document: String) -> [MarkdownBlock] {
        let path = Libcached.root + "docs/" + document
        return ((try? MarkdownBlock.blocks(of: path)) ?? []).filter {
            languages.contains($0.language)
        }
    }

    @Test func applicationsHasCodeInEachLanguage() {
        let found = Self.blocks("applications.md").map(\.language)
        for language in Self.languages { #expect(found.contains(language), "\(language)") }
    }

    @Test(arguments: blocks("applications.md"))
    func runs(_ block: MarkdownBlock) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            for name in ["a", "b", "c", "d"] {
                let image = SampleImage.png(width: 64, height: 48, byteCount: 5000)
                origin.route(
                    "/\(name).png", .answer(headers: ["Cache-Control": "max-age=600"], body: image))
            }
            let home = try TemporaryDirectory(in: scope)
            let daemon = try await startDaemon(home, in: scope)
            if block.settings["cached"] != nil { _ = try await daemon.fetch(origin.url("/a.png")) }
            if block.settings["alone"] != nil { try await daemon.stop() }
            let text = block.text.replacing("https://example.com", with: origin.url(""))
            let words = try await program(block.language, text, home)
            let output = try await run(
                words[0], Array(words.dropFirst()), environment: environment(home))
            let status = block.settings["status"].flatMap { Int32($0) } ?? 0
            #expect(
                output.status == .exited(status), "\(block)\n\(output.text)\n\(output.errorText)")
            if let expected = block.settings["prints"] {
                #expect(output.text.contains(expected), "\(block) printed\n\(output.text)")
            }
        }
    }

    private func startDaemon(
        _ home: TemporaryDirectory, in scope: TestScope
    ) async throws -> DaemonFixture {
        var options = DaemonFixture.Options()
        options.directory = try home.directory(".cache") + "/cached"
        options.socket = try home.directory("run/cached") + "/cached.sock"
        return try await DaemonFixture.start(options, in: scope)
    }

    private func environment(_ home: TemporaryDirectory) throws -> [String: String] {
        var environment = minimalEnvironment([
            "HOME": home.path, "XDG_RUNTIME_DIR": home.file("run"),
            "PYTHONPATH": Libcached.root + "clients/python", "PYTHONDONTWRITEBYTECODE": "1",
        ])
        environment["PATH", default: ""] += ":" + (try BuiltProducts.directory())
        return environment
    }

    /// Writes the block to a file, and returns the words that run it.
    private func program(
        _ language: String, _ text: String, _ home: TemporaryDirectory
    ) async throws -> [String] {
        switch language {
        case "c":
            let source = try home.write(Self.whole(text), to: "block.c")
            return [try await Libcached.compile("cc", source, to: home.file("block"))]
        case "js":
            try FileManager.default.createSymbolicLink(
                atPath: try home.directory("node_modules") + "/cached-client",
                withDestinationPath: Libcached.root + "clients/javascript")
            return ["node", try home.write(text, to: "block.mjs")]
        case "swift":
            let source = try home.write(text, to: "main.swift")
            return [try await Self.compileSwift(source, to: home.file("block"))]
        case "python": return ["python3", try home.write(text, to: "block.py")]
        default: return ["sh", "-eu", try home.write(text, to: "block.sh")]
        }
    }

    /// Compiles a program with the Swift library of this build.
    private static func compileSwift(_ source: String, to program: String) async throws -> String {
        let build = try BuiltProducts.directory()
        let objects = try ["CachedClient", "ClientCore", "CClient"].flatMap { target in
            try FileManager.default.subpathsOfDirectory(atPath: "\(build)/\(target).build")
                .filter { $0.hasSuffix(".o") }.map { "\(build)/\(target).build/\($0)" }
        }
        let output = try await run(
            "swiftc",
            [
                source, "-I", build + "/Modules", "-I", Libcached.root + "Sources/CClient/include",
                "-o", program,
            ] + objects, environment: Libcached.compilers)
        try #require(output.status == .success, "\(output.errorText)")
        return program
    }

    private static func whole(_ text: String) -> String {
        guard !text.contains("int main") else { return text }
        let lines = text.split(separator: "\n")
        let includes = lines.filter { $0.hasPrefix("#include") }
        let body = lines.filter { !$0.hasPrefix("#include") }
        return (includes + ["int main(void) {"] + body + ["return 0;", "}"])
            .joined(separator: "\n") + "\n"
    }
}

import CacheWire
import Foundation
import TestSupport
import Testing

/// The scheme for pages of WebKitGTK, as other-programs.md has it.
@Suite(
    "Pages of WebKitGTK", .timeLimit(.minutes(5)),
    .enabled("needs xvfb and gir1.2-webkit2-4.1") {
        let check =
            #"import gi; gi.require_version("WebKit2", "4.1"); from gi.repository import WebKit2"#
        let words = [#"command -v xvfb-run && exec "$0" -c "$1""#, CachedGTK.python, check]
        return try await run("sh", ["-c"] + words).status == .success
    })
struct WebKitTests {
    @Test func aPageShowsCachedImages() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            for number in 0..<12 {
                let image = SampleImage.png(width: 30 + number, height: 20)
                origin.route("/\(number).png", .answer(body: image))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let home = try TemporaryDirectory(in: scope)
            let blocks = try MarkdownBlock.blocks(of: Libcached.root + "docs/do/other-programs.md")
            let block = try #require(blocks.first { $0.text.contains("register_uri_scheme") })
            let recipe = try home.write(block.text, to: "recipe.py")
            let page = Libcached.root + "Tests/IntegrationTests/ThirdParty/webkit-page.py"
            let urls = (0...12).map { origin.url("/\($0).png") }
            let words = CachedGTK.onDisplay([CachedGTK.python, page, recipe] + urls)
            let output = try await run(
                words[0], Array(words.dropFirst()),
                environment: minimalEnvironment([
                    "HOME": home.path, "CACHED_SOCKET": daemon.socket,
                    "CACHED_DIRECTORY": daemon.directory,
                    "PYTHONPATH": Libcached.root + "clients/python",
                    "PYTHONDONTWRITEBYTECODE": "1", "GTK_A11Y": "none",
                ]), within: .seconds(120))
            // The last one is missing at its origin.
            let widths = (30..<42).map { "\($0)" } + ["0"]
            #expect(
                output.text == "widths \(widths.joined(separator: " "))\n", "\(output.errorText)")
        }
    }
}

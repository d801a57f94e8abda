import CacheKey
import CacheWire
import Foundation
import TestSupport
import Testing

/// The recipes of the pages about `cached-gallery`.
@Suite(.timeLimit(.minutes(1)))
struct GalleryDocumentTests {
    static let pages = ["do/signed-addresses.md", "do/freshrss-and-miniflux.md", "do/nginx.md"]
    private static let secret = String(repeating: "fedcba98", count: 8)

    private func block(_ language: String, _ words: String) throws -> String {
        let blocks = try Self.pages.flatMap {
            try MarkdownBlock.blocks(of: Libcached.root + "docs/" + $0)
        }
        let found = blocks.first { $0.language == language && $0.text.contains(words) }
        return try #require(found).text
    }

    private func signed(_ url: String, _ secret: String) async throws -> String {
        let output = try await runSuccessfully(
            BuiltProducts.program("cached-gallery"), ["--sign", url, "--secret-file", secret])
        return output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func theExtensionOfFreshRSSSignsImages() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope)
            let secret = try directory.write(Self.secret + "\n", to: "secret")
            chmod(secret, 0o600)
            let url = "https://a.example/ä b.png?x=1&y=2"
            let markup =
                #"<p><img class="x" src="https://a.example/ä b.png?x=1&amp;y=2"> <img src="data:x"></p>"#
            let text =
                try block("php", "CachedImagesExtension")
                .replacing("/etc/freshrss/image-secret", with: secret)
                .replacing("<?php", with: "<?php\nclass Minz_Extension {}\n")
                + "\necho CachedImagesExtension::rewritten('\(markup)');\n"
            let script = try directory.write(text, to: "test.php")
            let output = try await runSuccessfully("php", [script])
            let path = try await signed(url, secret).replacing("&", with: "&amp;")
            #expect(
                output
                    == #"<p><img class="x" src="https://images.example.org\#(path)"> <img src="data:x"></p>"#
            )
        }
    }

    @Test func theMediaProxyOfMinifluxIsReplaced() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope)
            let secret = try directory.write(Self.secret, to: "secret")
            chmod(secret, 0o600)
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png()
            origin.route("/a.png", .answer(body: image))
            let daemon = try await DaemonFixture.start(in: scope)
            let face = try ChildProcess(
                BuiltProducts.program("cached-gallery"),
                [
                    "--serve", "--secret-file", secret, "--socket", daemon.socket,
                    "--host", "reader.example.org",
                ], environment: minimalEnvironment(), in: scope)
            let line = try await face.waitForLine(containing: "http://", on: .standardOutput)
            let port = try #require(line.firstMatch(of: /127\.0\.0\.1:(\d+)/)?.1)
            let location = try block("nginx", "location /proxy/")
                .replacing("127.0.0.1:8414", with: "127.0.0.1:\(port)")
            let nginx = try await Nginx(
                serving: ["/": directory.path], extra: location, in: scope)
            // As Miniflux writes it: HMAC and URL in the Base64 of URLs.
            let digest = try await runSuccessfully(
                "sh",
                [
                    "-c",
                    #"printf %s "$1" | openssl dgst -sha256 -hmac "$0" -binary | basenc --base64url -w 0"#,
                    Self.secret, origin.url("/a.png"),
                ])
            let url = Data(origin.url("/a.png").utf8).base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_")
            let response = try await WebClient(port: nginx.port).request(
                "GET", "/proxy/\(digest)/\(url)", ["Host": "reader.example.org"])
            #expect(response.status == 200 && response.body == image)
        }
    }

    @Test func aScriptMakesAStaticPage() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope)
            let secret = try directory.write(Self.secret, to: "secret")
            chmod(secret, 0o600)
            let url = "https://a.example/a.png?x=1&y=2"
            try directory.write("\(url)\n", to: "images")
            let program = try BuiltProducts.program("cached-gallery")
            let text = try block("sh", "sign()")
                .replacing("cached-gallery", with: "'\(program)'")
            _ = try await runSuccessfully("sh", ["-euc", "cd \(directory.path)\n\(text)"])
            let page = try String(contentsOfFile: directory.file("gallery.html"), encoding: .utf8)
            let path = try await signed(url, secret).replacing("&", with: "&amp;")
            #expect(page.contains("src=\"https://images.example.org\(path)\""))
        }
    }

    @Test func nginxServesWholeImagesOfTheDirectory() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png()
            origin.route("/a.png", .answer(body: image))
            let daemon = try await DaemonFixture.start(in: scope)
            let item = try await daemon.fetch(origin.url("/a.png"))
            let location = try block("nginx", "alias")
                .replacing("/var/cache/cached", with: daemon.directory)
            let empty = try TemporaryDirectory(in: scope)
            // The daemon of a test has a directory for its user alone; nginx runs as the same user.
            let nginx = try await Nginx(serving: ["/": empty.path], extra: location, in: scope)
            let web = WebClient(port: nginx.port)
            let response = try await web.request("GET", "/cached/\(item.key)")
            #expect(response.status == 200 && response.body == image)
            #expect(response.fields["content-type"] == nil)
            for name in [
                "", ".lock", "\(item.key).part", "CACHEDIR.TAG", "..%2fs", item.key.uppercased(),
            ] {
                #expect(try await web.request("GET", "/cached/\(name)").status == 404, "\(name)")
            }
        }
    }
}

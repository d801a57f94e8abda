import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// `cachectl import`: files that are here become cached images.
@Suite("Import", .timeLimit(.minutes(2)))
struct ImportTests {
    private let url = "https://example.com/a.png"
    private let image = SampleImage.png(byteCount: 3000)

    @Test func aRunningDaemonHasTheImageAtOnce() async throws {
        try await withTestScope { scope in
            let file = try file(image, in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let imported = try await daemon.cachectl("import", url, file)
            #expect(imported.text == "imported  \(url)\n", "\(imported.errorText)")
            let item = try await daemon.status(url)
            #expect(item.state == .cached && item.size == 3000)
            #expect(try contents(of: daemon.path(url)) == image)
            #expect(try await daemon.cachectl("verify").text.contains("checked 1 entry, 0 damaged"))
            #expect(try await daemon.cachectl("import", url, file).text == "cached  \(url)\n")
            #expect(try await daemon.cachectl("list").text.contains(url))
        }
    }

    @Test func noDaemonIsNeeded() async throws {
        try await withTestScope { scope in
            let file = try file(image, in: scope)
            let folder = try TemporaryDirectory(in: scope).file("new/cache")
            let other = "https://example.com/b.png#as=ada"
            let list = Array("# covers\n\(url)\t\(file)\n\n\(other)\t\(file)\n".utf8)
            let imported = try await run(
                BuiltProducts.program("cachectl"), ["import", "--directory", folder, "-"],
                environment: minimalEnvironment(["HOME": "/nonexistent"]), input: list)
            #expect(imported.lines == ["imported  \(url)", "imported  \(other)"])
            var options = DaemonFixture.Options()
            options.directory = folder
            let daemon = try await DaemonFixture.start(options, in: scope)
            for name in [url, other] { #expect(try await daemon.status(name).state == .cached) }
            let ofAda = try daemon.path(other)
            var status = stat()
            #expect(stat(ofAda, &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
    }

    /// The directory is its owner's alone, as if the daemon had made it, and files that others may have stay so.
    @Test func neitherTheUmaskNorARelativePathMatters() async throws {
        try await withTestScope { scope in
            let file = try file(image, in: scope)
            let folder = try TemporaryDirectory(in: scope)
            let program = try BuiltProducts.program("cachectl")
            let script =
                "cd \(folder.path) && umask 077 && \(program) import --directory made/cache \(url) \(file)"
            let imported = try await run(
                "/bin/sh", ["-c", script],
                environment: minimalEnvironment(["HOME": "/nonexistent", "CACHED_START": "no"]))
            #expect(imported.text == "imported  \(url)\n", "\(imported.errorText)")
            var status = stat()
            #expect(stat(folder.file("made/cache"), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o700)
            let names = try FileManager.default.contentsOfDirectory(
                atPath: folder.file("made/cache"))
            #expect(names.count == 1)
            #expect(stat(folder.file("made/cache/\(names[0])"), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o644)
        }
    }

    /// ext4 has one block for all attributes of a file.
    @Test func anImageWithAVeryLongURLIsImported() async throws {
        try await withTestScope { scope in
            let file = try file(image, in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let long = url + "?" + String(repeating: "x", count: 8000)
            let imported = try await daemon.cachectl("import", long, file)
            #expect(imported.status == .success, "\(imported.errorText)")
            #expect(try await daemon.status(long).state == .cached)
        }
    }

    /// The time of its last change is that of the origin's answer.
    @Test func anOldFileIsAskedAboutBeforeItIsUsed() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let new = SampleImage.png(byteCount: 4000)
            origin.route("/a.png", .answer(body: new))
            let file = try file(image, in: scope)
            try await runSuccessfully("touch", ["-d", "2020-01-01", file])
            let daemon = try await DaemonFixture.start(in: scope)
            let url = origin.url("/a.png")
            #expect(try await daemon.cachectl("import", url, file).status == .success)
            let item = try await daemon.status(url, details: true)
            #expect(item.fetchedAt == 1_577_836_800, "\(item)")
            #expect(item.freshUntil == 1_577_840_400)
            #expect(try await daemon.cachectl("fetch", url).status == .success)
            #expect(try contents(of: daemon.path(url)) == new)
        }
    }

    @Test(arguments: [
        ("https://example.com/a.png", Array("<html>".utf8), "no image of a known format"),
        (
            "https://example.com/a.png", Array(SampleImage.png(byteCount: 900).dropLast(200)),
            "no whole image"
        ),
        ("https://example.com/a.png", [UInt8](), "no image"),
        ("https://example.com/a.png#side=64", SampleImage.png(byteCount: 900), "import that"),
        ("ftp://example.com/a.png", SampleImage.png(byteCount: 900), "neither http nor https"),
    ])
    func whatIsNoImageIsRefused(url: String, bytes: [UInt8], reason: String) async throws {
        try await withTestScope { scope in
            let bad = try file(bytes, in: scope)
            let good = try file(image, in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let imported = try await daemon.cachectl(
                "import", url, bad, "https://example.com/good.png", good)
            #expect(imported.status != .success)
            #expect(imported.errorText.contains(reason), "\(imported.errorText)")
            #expect(imported.lines == ["imported  https://example.com/good.png"])
            let names = try FileManager.default.contentsOfDirectory(atPath: daemon.directory)
            #expect(names.filter { $0.utf8.count == 36 }.count == 1)
        }
    }

    @Test(arguments: [["https://example.com/a.png"], ["a", "b", "c"]])
    func aURLWithoutAFileIsWrongUsage(arguments: [String]) async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let imported = try await run(
                BuiltProducts.program("cachectl"),
                ["import", "--socket", daemon.socket] + arguments)
            #expect(imported.status == .exited(64))
            #expect(imported.errorText.contains("the last one has no file"))
        }
    }

    private func file(_ bytes: [UInt8], in scope: TestScope) throws -> String {
        let folder = try TemporaryDirectory(in: scope)
        try folder.write(bytes, to: "image")
        return folder.file("image")
    }
}

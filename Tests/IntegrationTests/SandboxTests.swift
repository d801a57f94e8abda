import CacheWire
import Foundation
import TestSupport
import Testing

/// A program in a sandbox that sees the directory of the socket, and nothing else of the cache. bwrap(1).
@Suite("Sandboxes", .timeLimit(.minutes(5)))
struct SandboxTests {
    @Test func anImageIsReadWithNothingButTheDirectoryOfTheSocket() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 90_000)))
            let url = origin.url("/a.png")
            let place = try TemporaryDirectory(in: scope)
            var options = DaemonFixture.Options()
            options.socket = place.file("cached.sock")
            let daemon = try await DaemonFixture.start(options, in: scope)
            #expect(try await daemon.fetch(url).state == .cached)
            let digest = try #require(try await daemon.status(url, details: true).sha256)
            let reader = try ChildProcess(
                "bwrap", sandbox(place.path) + ["/run/cached/cached.sock", url], in: scope)
            try await waitUntil("the first reading") {
                reader.text(.standardOutput).contains("\n")
            }
            try await daemon.stop()
            let next = try await daemon.restart()
            try await next.waitForScan()
            #expect(try await reader.waitForExit() == .success)
            let output = reader.text(.standardOutput).split(separator: "\n")
            #expect(output.map(String.init) == [digest, digest])
        }
    }

    /// It has the owner's user and the socket, but is nobody's manager. With all its restrictions, the daemon sees the
    /// user namespace of the sandbox alone.
    @Test(arguments: ["no", "yes"])
    func aProgramInASandboxIsAGuest(restrict: String) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 9000)))
            origin.route("/b.png", .answer(body: SampleImage.png(byteCount: 9000)))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(["--restrict", restrict], in: scope)
            func cachectl(_ arguments: [String]) async throws -> ProcessOutput {
                try await run(
                    "bwrap",
                    [
                        "--unshare-user", "--dev-bind", "/", "/",
                        BuiltProducts.program("cachectl"), "--socket", daemon.socket,
                    ] + arguments, environment: minimalEnvironment([:]))
            }
            // A host that only `--allow-network` permits is not asked for it. That says nothing about others, whose open
            // connection it does not use either.
            for file in [url, origin.url("/b.png")] {
                let asked = origin.requests().count
                let output = try await cachectl(["fetch", file])
                #expect(output.status != .success && output.errorText.contains("sandbox"))
                #expect(origin.requests().count == asked)
                #expect(try await daemon.fetch(file).state == .cached)
            }
            #expect(try await cachectl(["fetch", url]).status == .success)
            #expect(try await cachectl(["status", url]).lines.first?.hasPrefix("cached") == true)
            let refused = [
                ["list"], ["remove", url], ["pin", url], ["evict", "--to", "0"], ["verify"],
                ["watch"], ["fetch", "--as", "ada", url], ["status", url + "#as=ada"],
                ["fetch", "--pin", url],
            ]
            for arguments in refused {
                let output = try await cachectl(arguments)
                #expect(output.status == .exited(77), "\(arguments): \(output.errorText)")
            }
            #expect(try await daemon.status(url).state == .cached)
            // Outside, the same user is the owner.
            #expect(try await daemon.cachectl("list").text.contains(url))
        }
    }

    /// Each start of the application is a sandbox of its own, and shares the daemon that the first one has started.
    @Test func anApplicationIsNoGuestOfTheDaemonInItsFlatpak() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 9000)))
            let url = origin.url("/a.png")
            let place = try TemporaryDirectory(in: scope)
            try Data().write(to: URL(filePath: place.file("info")))
            let words = try flatpak(info: place.file("info"))
            let environment = minimalEnvironment([
                "CACHED_DIRECTORY": place.file("cache"), "CACHED_SOCKET": place.file("socket"),
                "CACHED_ALLOW_NETWORK": "127.0.0.0/8",
            ])
            let cached = try ChildProcess(
                "bwrap", words + [BuiltProducts.program("cached")], environment: environment,
                in: scope)
            try await cached.waitForSocket(place.file("socket"))
            for arguments in [["fetch", url], ["pin", url], ["list"], ["remove", url]] {
                let output = try await run(
                    "bwrap", words + [BuiltProducts.program("cachectl")] + arguments,
                    environment: environment)
                #expect(output.status == .success, "\(arguments): \(output.errorText)")
            }
            #expect(origin.requests("/a.png").count == 1)
        }
    }

    /// The file system as it is, with the file by which a Flatpak is known, and processes and users of its own.
    private func flatpak(info: String) throws -> [String] {
        let folders = try FileManager.default.contentsOfDirectory(atPath: "/")
            .filter { !["proc", "dev"].contains($0) }
        return ["--unshare-user", "--unshare-pid", "--die-with-parent", "--proc", "/proc"]
            + ["--dev", "/dev", "--ro-bind", info, "/.flatpak-info"]
            + folders.flatMap { ["--bind", "/" + $0, "/" + $0] }
    }

    /// A system without anything but the programs that the reader needs.
    private func sandbox(_ socketDirectory: String) -> [String] {
        let directory = URL(filePath: #filePath).deletingLastPathComponent().path(
            percentEncoded: false)
        let script = directory + "ThirdParty/sandboxed-reader.py"
        return [
            "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr",
            "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc",
            "--ro-bind", script, "/reader.py", "--ro-bind", socketDirectory, "/run/cached",
            "/usr/bin/python3", "/reader.py",
        ]
    }
}

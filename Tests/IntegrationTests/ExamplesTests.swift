import Foundation
import TestSupport
import Testing

/// The programs in `examples/`, built as their README says, against the daemon and without it.
@Suite("Examples", .serialized, .timeLimit(.minutes(10)))
struct ExamplesTests {
    /// A program that takes URLs, with the words that start it.
    private struct Program: Sendable {
        var words: [String]
        var environment: [String: String] = [:]
        /// Whether the program learns of a running download from the directory alone.
        var seesDownloads = true
    }

    private static let examples = Libcached.root + "examples/"

    @Test func c() async throws {
        try await check {
            let flags = try await pkgConfig("--cflags", "--libs", "cached")
            try await compile(
                "cc",
                ["-Wall", "-Wextra", "-Werror", "-o", $0, Self.examples + "c/images.c"] + flags)
            return Program(words: [$0], environment: try await libraryPath())
        }
    }

    @Test func python() async throws {
        let program = Program(
            words: ["python3", Self.examples + "python/images.py"],
            environment: [
                "PYTHONPATH": Libcached.root + "clients/python", "PYTHONDONTWRITEBYTECODE": "1",
            ])
        try await check { _ in program }
    }

    @Test func javaScript() async throws {
        try await check { program in
            // As `npm install` of a directory does.
            let modules = program + "-modules/node_modules"
            try FileManager.default.createDirectory(
                atPath: modules, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: modules + "/cached-client",
                withDestinationPath: Libcached.root + "clients/javascript")
            let script = program + "-modules/images.mjs"
            try FileManager.default.copyItem(
                atPath: Self.examples + "javascript/images.mjs", toPath: script)
            return Program(words: ["node", script], seesDownloads: false)
        }
    }

    @Test(.enabled(if: Libcached.isInstalled("go"), "Go is not installed"))
    func go() async throws {
        try await check {
            try await compile("go", ["build", "-o", $0, Self.examples + "go/images.go"])
            return Program(words: [$0], environment: try await libraryPath())
        }
    }

    @Test(.enabled(if: Libcached.hasRust, "Rust is not installed"))
    func rust() async throws {
        try await check { _ in
            let products = try await Libcached.cargo("build", "examples/rust")
            return Program(words: [products + "/images"], environment: try await libraryPath())
        }
    }

    /// The package resolves nothing from the network.
    @Test func swift() async throws {
        try await check { program in
            let output = try await run(
                "swift",
                [
                    "build", "--package-path", Self.examples + "swift", "--scratch-path",
                    program + "-build",
                ], environment: Libcached.compilers, within: .seconds(600))
            try #require(output.status == .success, "\(output.text)\(output.errorText)")
            return Program(words: [program + "-build/debug/images"])
        }
    }

    // MARK: Building

    /// The environment of a compiler that finds `cached.pc`. Go keeps the place of the library in its cache, so the
    /// cache of another run leads to a library that is gone.
    private func compilers() async throws -> [String: String] {
        let library = try await Libcached.directory()
        let places = ["PKG_CONFIG_PATH": library, "GOCACHE": library + "/go"]
        return Libcached.compilers.merging(places) { $1 }
    }

    private func pkgConfig(_ arguments: String...) async throws -> [String] {
        let output = try await run("pkg-config", arguments, environment: try await compilers())
        #expect(output.status == .success, "\(output.errorText)")
        return output.text.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    private func compile(_ compiler: String, _ arguments: [String]) async throws {
        let output = try await run(compiler, arguments, environment: try await compilers())
        try #require(output.status == .success, "\(output.errorText)")
    }

    private func libraryPath() async throws -> [String: String] {
        ["LD_LIBRARY_PATH": try await Libcached.directory()]
    }

    // MARK: Running

    /// - Parameter build: builds the program at a path, or says how to run it without.
    private func check(_ build: (String) async throws -> Program) async throws {
        try await withTestScope { scope in
            let program = try await build(TemporaryDirectory(in: scope).file("images"))
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let fresh: HeaderFields = ["Cache-Control": "max-age=600"]
            let image = SampleImage.png(byteCount: 90_000)
            origin.route("/here.png", .answer(headers: fresh, body: image))
            origin.route("/slow.png", .gated(image, after: 30_000, gate, headers: fresh))
            let daemon = try await DaemonFixture.start(in: scope)
            let (here, slow) = (origin.url("/here.png"), origin.url("/slow.png"))
            let (none, other) = (origin.url("/none.png"), origin.url("/other.png"))
            _ = try await daemon.fetch(here)
            let herePath = "cached \(try daemon.path(here))"
            let slowPath = "cached \(try daemon.path(slow))"
            func start(_ urls: String...) throws -> ChildProcess {
                let place = ["CACHED_DIRECTORY": daemon.directory, "CACHED_SOCKET": daemon.socket]
                return try ChildProcess(
                    program.words[0], program.words.dropFirst() + urls,
                    environment: minimalEnvironment(place.merging(program.environment) { $1 }),
                    in: scope)
            }

            // The states at once, progress, a path and a failure.
            let first = try start(here, slow, none)
            try await first.waitForLine(containing: "in flight 33% \(slow)", on: .standardOutput)
            // Another program joins the download.
            let second = try start(slow)
            let known = program.seesDownloads ? "in flight 33% \(slow)" : "missing \(slow)"
            try await second.waitForLine(containing: known, on: .standardOutput)
            gate.open()
            #expect(try await first.waitForExit() == .exited(1))
            #expect(try await second.waitForExit() == .success)
            #expect(
                Array(lines(first).prefix(3)) == [herePath, "missing \(slow)", "missing \(none)"])
            #expect(lines(first).contains(slowPath))
            #expect(
                lines(first).contains { $0.hasPrefix("failed \(none): ") && $0.hasSuffix("404") })
            #expect(lines(second).first == known && lines(second).last == slowPath)

            let again = try start(here, slow, here)
            #expect(try await again.waitForExit() == .success)
            #expect(Set(lines(again)) == [herePath, slowPath])
            let twice = try start(none, none)
            #expect(try await twice.waitForExit() == .exited(1))

            // Without a daemon, the program still prints the cached images.
            try await daemon.stop()
            let alone = try start(here)
            let hopeless = try start(here, other)
            #expect(try await alone.waitForExit() == .success && lines(alone) == [herePath])
            #expect(try await hopeless.waitForExit() == .exited(1))
            #expect(Array(lines(hopeless).prefix(2)) == [herePath, "missing \(other)"])
            #expect(lines(hopeless).last?.hasPrefix("failed \(other): ") == true)
        }
    }

    private func lines(_ program: ChildProcess) -> [String] {
        program.text(.standardOutput).split(separator: "\n").map(String.init)
    }
}

import Foundation
import Glibc
import TestSupport
import Testing

/// The client libraries in `clients/`, against the vectors in `Tests/Vectors` and the built daemon. Their own scripts
/// check what they promise.
@Suite("Client libraries", .serialized, .timeLimit(.minutes(10)))
struct ClientLibraryTests {
    /// A library in one language, and the tests of its script `behaviour`.
    struct Library: CustomTestStringConvertible, Sendable {
        let interpreter: String
        let scripts: String
        let suffix: String
        let tests: [String]

        var testDescription: String { interpreter }

        func script(_ name: String) -> String {
            "\(ClientLibraryTests.root)/clients/\(scripts)/\(name).\(suffix)"
        }
    }

    private static let python = Library(
        interpreter: "python3", scripts: "python/tests", suffix: "py",
        tests: [
            "loads", "opens_a_file", "a_window", "leaving_ends_downloads", "a_restart",
            "a_child_reads_nothing_of_its_parent", "many_wants",
            "the_daemon_is_needed_for_nothing_that_is_cached",
            "a_load_that_follows_finds_a_daemon_later",
            "patience_is_for_a_daemon_that_was_there", "a_start_that_fails",
            "the_socket_unit_comes_first", "three_programs_start_one_daemon", "every_verb",
            "an_image_without_its_directory", "plain_mode", "a_fake", "it_is_imported_quickly",
            "hostile_sockets", "folders_that_are_refused", "in_the_main_loop_of_glib",
            "the_readme", "the_speed_of_peek",
        ])
    private static let javaScript = Library(
        interpreter: "node", scripts: "javascript/test", suffix: "mjs",
        tests: [
            "loads", "aWindow", "leavingEndsDownloads", "aRestart", "manyWants",
            "theDaemonIsNeededForNothingThatIsCached", "aLoadThatFollowsFindsADaemonLater",
            "patienceIsForADaemonThatWasThere", "aStartThatFails", "theSocketUnitComesFirst",
            "threeProgramsStartOneDaemon", "everyVerb", "anImageWithoutItsDirectory", "plainMode",
            "aFake", "hostileSockets", "foldersThatAreRefused", "theHandlerOfElectron", "theReadme",
            "theSpeedOfPeek",
        ])
    private static let libraries = [python, javaScript]
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .path(percentEncoded: false)
    private static let vectors = "\(root)/Tests/Vectors"

    // MARK: Vectors

    @Test func theVectorsAreThoseOfTheirGenerator() async throws {
        try await runSuccessfully("python3", ["\(Self.vectors)/generate", "--check"])
    }

    @Test func theProgramComputesTheNamesOfTheVectors() async throws {
        struct Vector: Decodable {
            var url: String
            var name: String
        }
        let file = Data(try contents(of: "\(Self.vectors)/names.json"))
        let vectors = try JSONDecoder().decode([Vector].self, from: file)
        #expect(vectors.count >= 500)
        let urls = vectors.map { $0.url + "\n" }.joined()
        let output = try await runSuccessfully(
            BuiltProducts.program("cachectl"), ["name", "-"], input: Array(urls.utf8))
        #expect(output.split(separator: "\n").map(String.init) == vectors.map(\.name))
    }

    @Test(arguments: libraries)
    func agreesWithTheVectors(_ library: Library) async throws {
        let output = try await run(
            library.interpreter, [library.script("vectors"), Self.vectors],
            environment: Self.environment)
        #expect(output.status == .success, "\(output.errorText)")
    }

    // MARK: Behaviour

    @Test(arguments: python.tests)
    func keepsThePromisesInPython(_ test: String) async throws {
        try await check(Self.python, test)
    }

    @Test(arguments: javaScript.tests)
    func keepsThePromisesInJavaScript(_ test: String) async throws {
        try await check(Self.javaScript, test)
    }

    /// Runs one test of a script. The script prints a line when it needs the daemon restarted or the slow images
    /// to end.
    private func check(_ library: Library, _ test: String) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let (image, slowImage) = (
                SampleImage.png(byteCount: 5000), SampleImage.png(byteCount: 200_000)
            )
            let fresh: HeaderFields = ["Cache-Control": "max-age=600"]
            for number in 0..<1000 {
                origin.route("/\(number).png", .answer(headers: fresh, body: image))
            }
            let elsewhere = try ScriptedOrigin(in: scope)
            for each in [origin, elsewhere] {
                each.route("/private.png") { request in
                    request.headers["Authorization"] == "Bearer ada"
                        ? .answer(headers: fresh, body: image) : .answer(401)
                }
            }
            origin.route("/cut.png", .cut(image, after: 2000))
            let page: HeaderFields = ["Content-Type": "image/png"]
            origin.route("/portal.png", .answer(headers: page, body: Array("<html></html>".utf8)))
            origin.route("/moved.png", .redirect(to: elsewhere.url("/private.png")))
            origin.route("/growing.png") { [origin] _ in
                let byteCount = 5000 + 100 * origin.requests("/growing.png").count
                return .answer(headers: fresh, body: SampleImage.png(byteCount: byteCount))
            }
            for number in 0..<120 {
                origin.route(
                    "/slow/\(number).png", .gated(slowImage, after: 100_000, gate, headers: fresh))
            }
            var options = DaemonFixture.Options()
            options.socket = try TemporaryDirectory(in: scope).file("s")
            let daemon = try await DaemonFixture.start(options, in: scope)
            let programs = URL(filePath: try BuiltProducts.program("cached"))
                .deletingLastPathComponent().path
            let script = try ChildProcess(
                library.interpreter,
                [
                    library.script("behaviour"), test, daemon.directory, daemon.socket,
                    origin.url(""),
                ],
                environment: Self.environment.merging(["PROGRAMS": programs]) { $1 }, in: scope)
            var newDaemon = daemon
            switch test.lowercased().filter({ $0 != "_" }) {
            case "awindow", "plainmode":
                try await script.waitForLine(containing: "open", on: .standardOutput)
                gate.open()
            case "arestart":
                try await script.waitForLine(containing: "restart", on: .standardOutput)
                newDaemon = try await daemon.replace(afterCrash: true)
                gate.open()
            default: break
            }
            let status = try await script.waitForExit()
            #expect(
                status == .success,
                "\(script.text(.standardOutput))\n\(script.text(.standardError))\n\(newDaemon.log)")
        }
    }

    private static let environment = minimalEnvironment([
        "PYTHONPATH": "\(root)/clients/python", "PYTHONDONTWRITEBYTECODE": "1",
    ])

    // MARK: Packages

    private static let builder = ProcessInfo.processInfo.environment["CACHED_TEST_PYTHON"]

    /// The wheel works without the sources, and has the mark of a typed package.
    @Test(
        .enabled(
            if: builder != nil,
            "CACHED_TEST_PYTHON names no interpreter; .ci/python-clients prepares one"))
    func pythonPackagesCanBeBuilt() async throws {
        try await withTestScope { scope in
            let place = try TemporaryDirectory(in: scope)
            try await runSuccessfully("cp", ["-r", "\(Self.root)/clients/python", place.file("p")])
            let script = """
                import os, sys, tarfile
                os.chdir(sys.argv[1] + "/p")
                from setuptools import build_meta
                source = tarfile.open("../" + build_meta.build_sdist("..")).getnames()
                assert any(name.endswith("cached_client/py.typed") for name in source)
                os.rename("../" + build_meta.build_wheel(".."), "../wheel.zip")
                """
            try await runSuccessfully(try #require(Self.builder), ["-c", script, place.path])
            let use = """
                import cached_client, pkgutil
                assert pkgutil.get_data("cached_client", "py.typed") == b""
                """
            let output = try await run(
                "python3", ["-c", use],
                environment: minimalEnvironment(["PYTHONPATH": place.file("wheel.zip")]))
            #expect(output.status == .success, "\(output.errorText)")
        }
    }
}

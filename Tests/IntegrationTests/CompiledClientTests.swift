import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// The libraries over libcached, in C++ and Rust, against the built daemon. Their own tests check what they promise.
@Suite("Compiled client libraries", .serialized, .timeLimit(.minutes(10)))
struct CompiledClientTests {
    @Test(.enabled(if: Libcached.hasRust, "Rust is not installed"))
    func keepsThePromisesInRust() async throws {
        let programs = ["CACHED_TEST_PROGRAMS": try BuiltProducts.directory()]
        try await Libcached.cargo("test", "clients/rust", programs)
    }

    /// The addon of Node.js. Without it, `ClientLibraryTests` runs the same client.
    @Test(.enabled(if: hasHeadersOfNode, "the headers of Node.js are not installed"))
    func peekOfNodeIsSureWithTheAddon() async throws {
        try await withTestScope { scope in
            let client = try TemporaryDirectory(in: scope).file("client")
            try FileManager.default.copyItem(
                atPath: Libcached.root + "clients/javascript", toPath: client)
            let library = try await Libcached.directory()
            let built = try await run(
                client + "/addon/build", [library], environment: Libcached.compilers)
            try #require(built.status == .success, "\(built.errorText)")
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 60_000)
            origin.route(
                "/here.png", .answer(headers: ["Cache-Control": "max-age=600"], body: image))
            origin.route("/slow.png", .gated(image, after: 20_000, gate))
            let daemon = try await DaemonFixture.start(in: scope)
            _ = try await daemon.fetch(origin.url("/here.png"))
            let download = try daemon.startCachectl("fetch", origin.url("/slow.png"))
            _ = try await eventually("a part of the image is there") {
                try await daemon.status(origin.url("/slow.png")).received == 20_000 ? true : nil
            }
            let place = ["CACHED_DIRECTORY": daemon.directory, "CACHED_SOCKET": daemon.socket]
            let urls = ["/here.png", "/none.png", "/slow.png"].map { origin.url($0) }
            let tested = try await run(
                "node", [client + "/addon/test.mjs"] + urls, environment: minimalEnvironment(place))
            #expect(tested.status == .success, "\(tested.errorText)")
            gate.open()
            _ = try await download.waitForExit()
        }
    }

    private static let hasHeadersOfNode = ["/usr", "/usr/local"].contains {
        access($0 + "/include/node/node_api.h", R_OK) == 0
    }

    /// Under AddressSanitizer: a handle that is used too long, or a text, ends the program.
    @Test(.disabled(if: isSanitized, "this process has a sanitizer of its own"))
    func keepsThePromisesInCxx() async throws {
        try await withTestScope { scope in
            let program = try await Libcached.compile(
                "c++", Libcached.root + "clients/cpp/tests/cached.cpp",
                to: TemporaryDirectory(in: scope).file("cached"),
                Libcached.cxx20 + ["-Wpedantic", "-Wshadow", "-fsanitize=address,undefined"])
            let origin = try ScriptedOrigin(in: scope)
            let fresh: HeaderFields = ["Cache-Control": "max-age=600"]
            let image = SampleImage.png(byteCount: 60_000)
            origin.route("/a.png", .answer(headers: fresh, body: image))
            origin.route("/slow.png", .trickled(image, bytesPerSecond: 100_000, headers: fresh))
            let daemon = try await DaemonFixture.start(in: scope)
            func start(_ mode: String...) throws -> ChildProcess {
                let place = ["CACHED_DIRECTORY": daemon.directory, "CACHED_SOCKET": daemon.socket]
                return try ChildProcess(
                    program, [origin.url("")] + mode, environment: minimalEnvironment(place),
                    in: scope)
            }
            func expectSuccess(_ process: ChildProcess) async throws {
                let status = try await process.waitForExit()
                #expect(status == .success, "\(process.text(.standardError))")
            }

            try await expectSuccess(try start())
            // The daemon is killed while handles come and go.
            let churning = try start("churn")
            try await churning.waitForLine(containing: "killable", on: .standardOutput)
            try await daemon.kill()
            try await expectSuccess(churning)
            try await expectSuccess(try start("absent"))
        }
    }
}

import Foundation
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
                let place = ["CACHE_DIRECTORY": daemon.directory, "CACHED_SOCKET": daemon.socket]
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

import Foundation
import TestSupport

/// The C library, built once for all tests, and programs over it.
enum Libcached {
    /// The root of the repository, with a slash at its end.
    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardized.path(percentEncoded: false)

    /// The environment of the caller, because compilers are found by its path, and some by its home directory.
    static let compilers = ProcessInfo.processInfo.environment

    private static let output = FileManager.default.temporaryDirectory
        .appending(path: "libcached-\(ProcessInfo.processInfo.processIdentifier)")
        .path(percentEncoded: false)

    private static let built = Task { () throws -> String in
        // Several tests use it, so it is removed when all of them have ended.
        atexit { try? FileManager.default.removeItem(atPath: Libcached.output) }
        let result = try await run(
            root + "Sources/libcached/build", [output],
            environment: compilers.merging(["PREFIX": output]) { $1 }, within: .seconds(300))
        guard result.status == .success else { throw TestFailure(result.errorText) }
        // The directory is its own prefix, as if the library were installed there.
        for folder in ["lib", "include"]
        where !FileManager.default.fileExists(atPath: "\(output)/\(folder)") {
            try FileManager.default.createSymbolicLink(
                atPath: "\(output)/\(folder)", withDestinationPath: ".")
        }
        return output
    }

    /// The directory with the built library, its header and its `cached.pc`.
    static func directory() async throws -> String { try await built.value }

    /// Compiles a C program of the repository and returns its path.
    static func program(_ source: String) async throws -> String {
        let directory = try await directory()
        let name = URL(filePath: source).deletingPathExtension().lastPathComponent
        return try await compile("cc", root + source, to: "\(directory)/\(name)")
    }

    /// Compiles a file of C or C++ over the library, with all warnings as errors.
    @discardableResult
    static func compile(
        _ compiler: String, _ source: String, to program: String, _ options: [String] = []
    ) async throws -> String {
        let library = try await directory()
        let result = try await run(
            compiler,
            options + [
                "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-I", library, source,
                "-o", program, "-L", library, "-lcached", "-Wl,-rpath,\(library)",
            ], environment: compilers, within: .seconds(300))
        guard result.status == .success else { throw TestFailure(result.errorText) }
        return program
    }

    /// What the header for C++20 needs.
    static let cxx20 = ["-std=c++20", "-I", root + "clients/cpp"]

    // MARK: Rust

    static let hasRust = isInstalled("cargo")

    static func isInstalled(_ program: String) -> Bool {
        (compilers["PATH"] ?? "").split(separator: ":").contains {
            access("\($0)/\(program)", X_OK) == 0
        }
    }

    /// Runs cargo on a package of the repository, which needs no network. The products of all are in one directory.
    @discardableResult
    static func cargo(
        _ command: String, _ package: String, _ environment: [String: String] = [:]
    ) async throws -> String {
        let library = try await directory()
        let settings = ["LIBCACHED": library, "LD_LIBRARY_PATH": library].merging(environment) {
            $1
        }
        let output = try await run(
            "cargo",
            [
                command, "--offline", "--manifest-path", "\(root)\(package)/Cargo.toml",
                "--target-dir", library + "/cargo",
            ],
            environment: compilers.merging(settings) { $1 }, within: .seconds(300))
        guard output.status == .success else { throw TestFailure(output.text + output.errorText) }
        return library + "/cargo/debug"
    }

    /// Compiles a program over the crate.
    static func compileRust(_ source: String, to program: String) async throws -> String {
        let library = try await directory()
        let crate = try await cargo("build", "clients/rust")
        let output = try await run(
            "rustc",
            [
                "--edition", "2021", "-D", "warnings", "--extern",
                "cached_client=\(crate)/libcached_client.rlib", "-L", library, "-C",
                "link-arg=-Wl,-rpath,\(library)", "-o", program, source,
            ], environment: compilers)
        guard output.status == .success else { throw TestFailure(output.errorText) }
        return program
    }
}

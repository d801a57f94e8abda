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

    /// Compiles a C file over the library, with all warnings as errors.
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
            ], environment: compilers)
        guard result.status == .success else { throw TestFailure(result.errorText) }
        return program
    }
}

import Foundation
import TestSupport
import Testing

/// The C library is built in another mode of the compiler. Both builds read all messages alike.
@Suite(.timeLimit(.minutes(5))) struct EmbeddedTests {
    private struct Transcript: Decodable {
        var text: String?
    }

    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../..").standardized
        .path(percentEncoded: false)

    /// Messages of the transcripts, most of them damaged.
    private func messages(_ count: Int) throws -> [[UInt8]] {
        let file = Data(try contents(of: Self.root + "Tests/Vectors/transcripts.json"))
        let whole = try JSONDecoder().decode([Transcript].self, from: file)
            .flatMap { Array(($0.text ?? "").utf8).split(separator: 0).map(Array.init) }
        var random = SeededGenerator(seed: 39)
        return (0..<count).map { number in
            var message = whole[number % whole.count]
            for _ in 0..<(number / whole.count % 4) { random.damage(&message) }
            return message
        }
    }

    private func build(in directory: TemporaryDirectory) async throws -> String {
        let root = Self.root
        // The compiler is found by the `PATH` of the test run.
        let path = "PATH=" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
        let core =
            try FileManager.default.subpathsOfDirectory(atPath: root + "Sources/ClientCore")
            .filter { $0.hasSuffix(".swift") }.map { "\(root)Sources/ClientCore/\($0)" }
            + [root + "Sources/MediaTypes/MediaType.swift"]
        let headers = root + "Sources/CClient/include"
        let (object, program) = (directory.file("client.o"), directory.file("summaries"))
        try await runSuccessfully(
            "env",
            [path, "clang", "-I", headers, "-c", root + "Sources/CClient/client.c", "-o", object])
        try await runSuccessfully(
            "env",
            [
                path, "swiftc", "-Osize", "-wmo", "-enable-experimental-feature", "Embedded",
                "-package-name", "cached", "-Xcc", "-D_GNU_SOURCE", "-I", headers,
                root + "Tests/ClientCoreTests/ReplySummary.swift",
                root + "Tests/ClientCoreTests/Embedded/main.swift", object, "-o", program,
            ] + core)
        return program
    }

    @Test func bothBuildsReadTheSame() async throws {
        let messages = try messages(25_000)
        let expected = messages.map { $0.withUnsafeBytes { summary(of: $0) } }
        #expect(Set(expected).count > 1000)
        var input: [UInt8] = []
        for message in messages {
            withUnsafeBytes(of: UInt32(message.count).littleEndian) { input += $0 }
            input += message
        }
        try await withTestScope { scope in
            let program = try await build(in: try TemporaryDirectory(in: scope))
            let output = try await run(program, input: input)
            #expect(output.status == .success)
            let found = output.standardOutput.withUnsafeBytes {
                Array($0.bindMemory(to: UInt64.self))
            }
            #expect(found.map(UInt64.init(littleEndian:)) == expected)
        }
    }
}

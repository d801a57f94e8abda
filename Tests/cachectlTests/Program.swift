import Foundation

/// Runs the built `cachectl` as a process.
enum Program {
    /// The output and the exit status of a run.
    struct Outcome {
        let status: Int32
        let output: String
        let errorOutput: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// The program is built into the directory of the tests. proc(5).
    static var url: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appending(path: "cachectl")
    }

    /// Runs the program with no environment variables but the given ones.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) throws -> Outcome {
        try run(arguments, bytes: Array(input.utf8), environment: environment)
    }

    /// Runs the program with any bytes as its standard input.
    static func run(
        _ arguments: [String], bytes: [UInt8], environment: [String: String] = [:]
    ) throws -> Outcome {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let files = ["in", "out", "err"].map { folder.appending(path: $0) }
        try Data(bytes).write(to: files[0])
        try Data().write(to: files[1])
        try Data().write(to: files[2])
        let process = Process()
        process.executableURL = url
        process.arguments = arguments
        process.environment = environment
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        process.waitUntilExit()
        let outcome = Outcome(
            status: process.terminationStatus,
            output: try String(contentsOf: files[1], encoding: .utf8),
            errorOutput: try String(contentsOf: files[2], encoding: .utf8))
        try FileManager.default.removeItem(at: folder)
        return outcome
    }
}

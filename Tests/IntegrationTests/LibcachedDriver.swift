import Foundation
import TestSupport

/// A C program over `libcached` that makes the calls that a test sends it.
struct LibcachedDriver: Sendable {
    let process: ChildProcess
    private let commands: FIFO

    private static let program = Task {
        try await Libcached.program("Tests/IntegrationTests/ThirdParty/libcached-driver.c")
    }

    /// - Parameters:
    ///   - launcher: a command that starts the program, such as valgrind.
    ///   - environment: by default one in which no daemon is started.
    init(
        directory: String, socket: String, patience: Int = 30_000, launcher: [String] = [],
        environment: [String: String] = minimalEnvironment(), in scope: TestScope
    ) async throws {
        commands = try FIFO(in: scope)
        let words = launcher + [try await Self.program.value, directory, socket, "\(patience)"]
        process = try ChildProcess(
            "sh", ["-c", #"exec "$@" < "$0""#, commands.path] + words, environment: environment,
            in: scope)
    }

    /// A program that starts a daemon if none answers.
    init(
        starting daemons: DetachedDaemons, patience: Int = 30_000, path: String? = nil,
        _ variables: [String: String] = [:], in scope: TestScope
    ) async throws {
        try await self.init(
            directory: daemons.directory, socket: daemons.socket, patience: patience,
            environment: daemons.environment(path: path, variables), in: scope)
    }

    init(_ daemon: DaemonFixture, launcher: [String] = [], in scope: TestScope) async throws {
        try await self.init(
            directory: daemon.directory, socket: daemon.socket, launcher: launcher, in: scope)
    }

    /// Sends commands.
    func tell(_ lines: String...) throws {
        try commands.write(lines.map { $0 + "\n" }.joined())
    }

    /// The lines that the program has printed so far. One that has not ended yet is none.
    var lines: [String] {
        let text = process.text(.standardOutput)
        return text.prefix(upTo: text.lastIndex(of: "\n") ?? text.startIndex)
            .split(separator: "\n").map(String.init)
    }

    /// Sends a command, and returns the next line that begins with `answer`.
    func ask(_ command: String, answer: String) async throws -> String {
        let before = lines.filter { $0.hasPrefix(answer) }.count
        try tell(command)
        return try await line(answer, number: before + 1)
    }

    /// Waits for the `number`th line that begins with these words.
    func line(_ words: String, number: Int = 1) async throws -> String {
        try await waitUntil("line \(number) of \(words)") {
            lines.filter { $0.hasPrefix(words) }.count >= number
        }
        return lines.filter { $0.hasPrefix(words) }[number - 1]
    }
}

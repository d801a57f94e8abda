import Foundation
import Glibc
import TestSupport

/// A place at which daemons are started in the background, by `--detach` or by clients. Those that still run at the end
/// of the scope are killed.
struct DetachedDaemons: Sendable {
    let home: TemporaryDirectory
    var directory: String { home.file("cache") }
    var socket: String { home.file("socket") }

    init(in scope: TestScope) throws {
        home = try TemporaryDirectory(in: scope)
        let path = home.path
        scope.atEnd { for process in Self.processes(in: path) { kill(process, SIGKILL) } }
    }

    /// The environment of a program that finds the built daemon, and can start it.
    ///
    /// - Parameter path: the folders of programs, in place of that of the built ones.
    func environment(
        path: String? = nil, _ more: [String: String] = [:]
    ) throws -> [String: String] {
        let folder = try path ?? BuiltProducts.directory()
        return minimalEnvironment([
            "PATH": "\(folder):/usr/bin:/bin", "HOME": home.path, "CACHED_START": "yes",
            "CACHED_ALLOW_NETWORK": "127.0.0.0/8", "CACHED_ATTEMPTS": "1",
            "MEMORY_PRESSURE_WATCH": "/dev/null", "CACHED_RESTRICT": isSanitized ? "no" : "yes",
        ]).merging(more) { $1 }
    }

    /// Runs `cached --detach` to its end.
    func detach(_ more: [String] = [], _ variables: [String: String] = [:]) async throws
        -> ProcessOutput
    {
        try await run(
            BuiltProducts.program("cached"),
            ["--detach", "--directory", directory, "--socket", socket] + more,
            environment: environment(variables))
    }

    /// The daemons that run here.
    var processes: [pid_t] { Self.processes(in: home.path) }

    private static func processes(in home: String) -> [pid_t] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return numbers.compactMap { pid_t($0) }.filter { number in
            // A process can end at any time.
            let texts = ["cmdline", "environ"].flatMap { name in
                (FileManager.default.contents(atPath: "/proc/\(number)/\(name)") ?? Data())
                    .split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            }
            return texts.contains("--detached")
                && texts.contains { $0.contains(home) }
        }
    }

    /// Kills the daemons, which is like a crash.
    func crash() async throws {
        let processes = processes
        for process in processes { kill(process, SIGKILL) }
        try await waitUntil("the daemons to end") { processes.allSatisfy(Self.hasEnded) }
    }

    /// Whether a process has closed its sockets. It loses its memory, and so its arguments, before that, and each of its
    /// threads keeps them open. proc(5)
    private static func hasEnded(_ process: pid_t) -> Bool {
        let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
        guard threads?.count ?? 0 <= 1 else { return false }
        let text = FileManager.default.contents(atPath: "/proc/\(process)/stat") ?? Data()
        let state = String(decoding: text, as: UTF8.self).split(separator: ")").last
        guard let state else { return true }
        // The first thread ends before the others.
        let tasks = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
        return (state.hasPrefix(" Z") || state.hasPrefix(" X")) && tasks?.count ?? 0 <= 1
    }
}

import Glibc
import TestSupport

/// strace(1) on one thread of a running process; it makes the n-th call of a kind fail.
struct Strace {
    /// A system call and the error it returns.
    struct Fault: Sendable, CustomStringConvertible {
        /// The call's name in strace; several names, separated by commas, count as one kind.
        let call: String
        /// The name of the error, as in errno(3).
        let errno: String
        /// Which call of the kind fails, counted from 1.
        var nth = 1

        var description: String { "\(call) \(nth) \(errno)" }

        /// The arguments for strace(1).
        var arguments: [String] {
            ["-e", "trace=\(call)", "-e", "inject=\(call):error=\(errno):when=\(nth)"]
        }
    }

    /// Whether strace is installed and permitted to trace a process that is not its child. ptrace(2)
    static func isPermitted() async throws -> Bool {
        try await withTestScope { scope in
            let sleeper = try ChildProcess("tail", ["-f", "/dev/null"], in: scope)
            do {
                let tracer = try ChildProcess(
                    "strace", ["-p", "\(sleeper.pid)", "-o", "/dev/null"], in: scope)
                try await tracer.waitForLine(containing: "attached")
                return true
            } catch is TestFailure {
                return false
            }
        }
    }

    private let process: ChildProcess
    private let log: String

    /// Attaches to a thread, or with `follows` to all threads of its process. Calls are counted for each
    /// thread.
    init(
        _ fault: Fault, on thread: Int32, follows: Bool = false, tracing also: [String] = [],
        log: String, in scope: TestScope
    ) async throws {
        self.log = log
        var arguments = ["-y", "-o", log, "-p", "\(thread)"] + fault.arguments
        if follows { arguments.append("-f") }
        if !also.isEmpty {
            arguments += ["-e", "trace=\(([fault.call] + also).joined(separator: ","))"]
        }
        process = try ChildProcess("strace", arguments, in: scope)
        try await process.waitForLine(containing: "attached")
    }

    /// Detaches from the thread and returns the log of its calls, line by line.
    func detach() async throws -> [Substring] {
        process.signal(SIGTERM)
        _ = try await process.waitForExit()
        return try Self.lines(of: log)
    }

    /// The lines of a log.
    static func lines(of log: String) throws -> [Substring] {
        String(decoding: try contents(of: log), as: UTF8.self).split(separator: "\n")
    }
}

extension Sequence<Substring> {
    /// Whether a call was made to fail.
    var showFault: Bool { contains { $0.hasSuffix("(INJECTED)") } }
}

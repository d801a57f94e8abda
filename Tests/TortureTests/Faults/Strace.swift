import Glibc
import TestSupport

/// strace(1) on one thread of a running process: makes the n-th call of a kind fail, from outside.
struct Strace {
    /// A call, and what it is to fail with.
    struct Fault: Sendable, CustomStringConvertible {
        /// Names the call as strace does; several, told apart by commas, are one kind.
        let call: String
        /// Names the error as errno(3) does.
        let errno: String
        /// Which call of the kind, counted from 1.
        var nth = 1

        var description: String { "\(call) \(nth) \(errno)" }

        /// What tells strace(1) so.
        var arguments: [String] {
            ["-e", "trace=\(call)", "-e", "inject=\(call):error=\(errno):when=\(nth)"]
        }
    }

    /// Whether strace is installed and may trace what is not its child. ptrace(2)
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

    /// Attaches to a thread, or with `follows` to all of its process. A thread counts its own calls.
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

    /// Lets go of the thread; what it did meanwhile, line by line.
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

import Foundation
import Glibc
import Synchronization

/// A running program: its output so far, its exit status, and a guarantee that it ends.
///
/// The child leads its own process group. When the child ends, a dedicated thread kills the rest of its
/// group and reaps the child at once. When the scope ends, a child that still runs is killed. When the
/// test run itself is killed, the kernel kills the child. So neither a zombie nor a process stays
/// behind.
public final class ChildProcess: Sendable {
    /// An output stream of a child.
    public enum Stream: Int, Sendable {
        case standardOutput, standardError
    }

    /// The destination of a child's standard error.
    public enum ErrorSink: Sendable {
        case pipe
        /// A terminal with this many columns, for programs that draw progress.
        case terminal(columns: Int)
    }

    private struct State: Sendable {
        /// The output on each stream, by `Stream.rawValue`.
        var printed: [[UInt8]] = [[], []]
        /// The number of streams that have ended.
        var streamsEnded = 0
        var exit: ExitStatus?
        var endedAt: ContinuousClock.Instant?
    }

    public let executable: String
    /// The process ID. After the end of the process the kernel can reuse it.
    public let pid: Int32
    private let state = Monitor(State())

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: a path, or a name that is looked up in `$PATH` and the `sbin` directories.
    ///   - environment: the child's whole environment; nothing is inherited.
    ///   - input: the child's standard input; empty by default.
    public init(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String] = minimalEnvironment(),
        input: [UInt8] = [],
        standardError: ErrorSink = .pipe,
        in scope: TestScope
    ) throws {
        self.executable = try Self.locate(executable)
        let input = try ChildStreams.input(input)
        defer { close(input) }
        let output = try ChildStreams.pipe()
        defer { close(output.write) }
        let error = try ChildStreams.open(standardError)
        defer { close(error.write) }
        do {
            pid = try SpawnRequest(
                executable: self.executable, arguments: arguments, environment: environment,
                descriptors: [input, output.write, error.write]
            ).spawn()
        } catch let failure {
            close(output.read)
            close(error.read)
            throw failure
        }
        collect(.standardOutput, from: output.read)
        collect(.standardError, from: error.read)
        reap()
        scope.atEnd { [self] in try await kill() }
    }

    /// The output on a stream so far.
    public func bytes(_ stream: Stream) -> [UInt8] {
        state.value.printed[stream.rawValue]
    }

    /// The output on a stream so far, as text.
    public func text(_ stream: Stream) -> String {
        String(decoding: bytes(stream), as: UTF8.self)
    }

    /// The exit status of the child; `nil` while it runs.
    public var exitStatus: ExitStatus? { state.value.exit }

    /// When the child ended, taken by the thread that waits for it; `nil` while it runs.
    public var endedAt: ContinuousClock.Instant? { state.value.endedAt }

    /// Bytes of memory the child uses now. proc(5), `VmRSS`.
    public func residentBytes() throws -> Int {
        try ProcessUsage.status("VmRSS", of: pid) << 10
    }

    /// The ID of a thread whose name has this prefix; `nil` if there is none. proc(5), `comm`
    public func thread(named prefix: String) throws -> Int32? {
        let tasks = "/proc/\(pid)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).first { task in
            // A thread can end between the two calls.
            let name = try? contents(of: "\(tasks)/\(task)/comm")
            return name?.starts(with: prefix.utf8) == true
        }.flatMap { Int32($0) }
    }

    /// Sends a signal to the child only; does nothing if it has ended. kill(2).
    public func signal(_ signal: Int32) {
        // Under the lock the child can't be reaped, so its ID can't belong to another process.
        state.change { [pid] state in
            if state.exit == nil { _ = Glibc.kill(pid, signal) }
        }
    }

    /// Kills the child by SIGKILL if it still runs, and waits until it has ended.
    public func kill() async throws {
        signal(SIGKILL)
        _ = try await waitForExit()
    }

    /// Waits until the child has ended and all its output has arrived.
    @discardableResult
    public func waitForExit(within limit: Duration = .patience) async throws -> ExitStatus {
        try await state.wait(for: "the end of \(self.executable)", within: limit) { state in
            state.streamsEnded == 2 ? state.exit : nil
        }
    }

    /// Waits until a complete line that contains `text` has been printed, and returns that line.
    ///
    /// - Throws: `TestFailure` with the whole output if the child ends first.
    @discardableResult
    public func waitForLine(
        containing text: String, on stream: Stream = .standardError,
        within limit: Duration = .patience
    ) async throws -> String {
        let found: String? = try await state.wait(
            for: "a line with '\(text)' from \(self.executable)", within: limit
        ) { state -> String?? in
            let printed = String(decoding: state.printed[stream.rawValue], as: UTF8.self)
            // A terminal ends lines with two characters that Swift reads as one.
            let whole = printed.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                .dropLast()
            if let line = whole.first(where: { $0.contains(text) }) { return .some(String(line)) }
            return state.streamsEnded == 2 && state.exit != nil ? .some(nil) : nil
        }
        guard let found else { throw endedEarly() }
        return found
    }

    /// Waits until a Unix socket accepts connections. connect(2).
    ///
    /// - Throws: `TestFailure` with the whole output if the child ends first.
    public func waitForSocket(_ path: String, within limit: Duration = .patience) async throws {
        let deadline = ContinuousClock.now + limit
        while true {
            if let socket = try? Socket.connect(toUnix: path) { return socket.close() }
            guard ContinuousClock.now < deadline else {
                throw TestFailure.timedOut("the socket \(path) of \(executable)", after: limit)
            }
            // No event marks the time between bind(2) and listen(2): try again soon, or at once if the
            // child ends.
            if (try? await waitForExit(within: .milliseconds(2))) != nil { throw endedEarly() }
        }
    }

    private func endedEarly() -> TestFailure {
        TestFailure(
            "\(executable) ended early, \(exitStatus.map(\.description) ?? "?"), and printed:\n"
                + text(.standardOutput) + text(.standardError))
    }

    /// Reads a stream to its end on a dedicated thread.
    private func collect(_ stream: Stream, from descriptor: Int32) {
        Thread.detachNewThread { [state] in
            ChildStreams.readToEnd(descriptor) { bytes in
                state.change { $0.printed[stream.rawValue] += bytes }
            }
            close(descriptor)
            state.change { $0.streamsEnded += 1 }
        }
    }

    /// Waits for the end of the child on a dedicated thread, and reaps it. waitid(2), waitpid(2).
    private func reap() {
        Thread.detachNewThread { [state, pid] in
            var info = siginfo_t()
            while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            let now = ContinuousClock.now
            // The child is not reaped yet and still owns its group's ID, so no other group is hit.
            _ = Glibc.kill(-pid, SIGKILL)
            state.change { state in
                var status: Int32 = 0
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                state.exit = ExitStatus(waitStatus: status)
                state.endedAt = now
            }
        }
    }

    /// The path of an executable. Daemons are installed in `sbin`, which is not in every `$PATH`.
    static func locate(_ executable: String) throws -> String {
        guard !executable.contains("/") else { return executable }
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let directories = path.split(separator: ":").map(String.init)
        for directory in directories + ["/usr/local/sbin", "/usr/sbin", "/sbin"] {
            let candidate = "\(directory)/\(executable)"
            if access(candidate, X_OK) == 0 { return candidate }
        }
        throw TestFailure("the program \(executable) is not installed")
    }
}

/// A minimal environment: `PATH`, a UTF-8 locale, and the variables in `added`.
public func minimalEnvironment(_ added: [String: String] = [:]) -> [String: String] {
    var environment = [
        "LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        // A client must not start a daemon that outlives the test; tests of that take it away.
        "CACHED_START": "no",
    ]
    // Passed on: where the toolchain keeps its libraries if they are not where the programs were linked
    // to look for them, and the options of programs built with a sanitizer.
    for name in ["LD_LIBRARY_PATH", "TSAN_OPTIONS", "ASAN_OPTIONS"] {
        if let value = getenv(name) { environment[name] = String(cString: value) }
    }
    return environment.merging(added) { _, new in new }
}

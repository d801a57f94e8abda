import Foundation
import Glibc
import Synchronization

/// A running program: what it has printed so far, its end, and a promise that it does end.
///
/// The child leads a process group of its own. When the child ends, the rest of its group is killed
/// and the child is reaped at once by a thread that waits for nothing else; when the scope ends, a
/// child still running is killed; when the test run itself is killed, the kernel kills the child.
/// So nothing stays behind, neither a zombie nor a process.
public final class ChildProcess: Sendable {
    /// One of the two streams a child prints to.
    public enum Stream: Int, Sendable {
        case standardOutput, standardError
    }

    /// Where the standard error output of a child leads.
    public enum ErrorSink: Sendable {
        case pipe
        /// A terminal with this many columns, as programs that draw progress want it.
        case terminal(columns: Int)
    }

    private struct State: Sendable {
        /// What was printed on each stream, by `Stream.rawValue`.
        var printed: [[UInt8]] = [[], []]
        /// How many of the two streams have ended.
        var streamsEnded = 0
        var exit: ExitStatus?
        var endedAt: ContinuousClock.Instant?
    }

    public let executable: String
    /// The process's id; whose it is after the end, nobody knows.
    public let pid: Int32
    private let state = Monitor(State())

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: a path, or a name that is looked for in `$PATH` and the `sbin` directories.
    ///   - environment: the whole environment of the child; nothing is inherited.
    ///   - input: what the child reads from its standard input; nothing if left out.
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

    /// What was printed on a stream so far.
    public func bytes(_ stream: Stream) -> [UInt8] {
        state.value.printed[stream.rawValue]
    }

    /// What was printed on a stream so far, as text.
    public func text(_ stream: Stream) -> String {
        String(decoding: bytes(stream), as: UTF8.self)
    }

    /// How the child ended; `nil` while it runs.
    public var exitStatus: ExitStatus? { state.value.exit }

    /// When the child ended, taken by the thread that waits for it; `nil` while it runs.
    public var endedAt: ContinuousClock.Instant? { state.value.endedAt }

    /// Bytes of memory the child has in use right now. proc(5), `VmRSS`.
    public func residentBytes() throws -> Int {
        let status = String(decoding: try contents(of: "/proc/\(pid)/status"), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first,
            let count = Int(kibibytes)
        else { throw TestFailure("the memory of \(executable) is not known") }
        return count << 10
    }

    /// Sends a signal, to the child alone; a child that has ended gets none. kill(2).
    public func signal(_ signal: Int32) {
        // Under the lock the child is not reaped meanwhile, so its id cannot be another's.
        state.change { [pid] state in
            if state.exit == nil { _ = Glibc.kill(pid, signal) }
        }
    }

    /// Ends the child by SIGKILL, if it still runs, and waits until it is gone.
    public func kill() async throws {
        signal(SIGKILL)
        _ = try await waitForExit()
    }

    /// Waits until the child has ended and all it printed has arrived.
    @discardableResult
    public func waitForExit(within limit: Duration = .patience) async throws -> ExitStatus {
        try await state.wait(for: "the end of \(self.executable)", within: limit) { state in
            state.streamsEnded == 2 ? state.exit : nil
        }
    }

    /// Waits until a line with `text` in it has been printed whole, and returns that line.
    ///
    /// - Throws: `TestFailure` with all that was printed if the child ends first.
    @discardableResult
    public func waitForLine(
        containing text: String, on stream: Stream = .standardError,
        within limit: Duration = .patience
    ) async throws -> String {
        let found: String? = try await state.wait(
            for: "a line with '\(text)' from \(self.executable)", within: limit
        ) { state -> String?? in
            let printed = String(decoding: state.printed[stream.rawValue], as: UTF8.self)
            // A terminal ends its lines with two characters that are one to Swift.
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
    /// - Throws: `TestFailure` with all that was printed if the child ends first.
    public func waitForSocket(_ path: String, within limit: Duration = .patience) async throws {
        let deadline = ContinuousClock.now + limit
        while true {
            if let socket = try? Socket.connect(toUnix: path) { return socket.close() }
            guard ContinuousClock.now < deadline else {
                throw TestFailure.timedOut("the socket \(path) of \(executable)", after: limit)
            }
            // Between bind(2) and listen(2) no event tells: look again soon, or at once when it
            // ends.
            if (try? await waitForExit(within: .milliseconds(2))) != nil { throw endedEarly() }
        }
    }

    private func endedEarly() -> TestFailure {
        TestFailure(
            "\(executable) ended early, \(exitStatus.map(\.description) ?? "?"), and said:\n"
                + text(.standardOutput) + text(.standardError))
    }

    /// Reads a stream to its end on a thread of its own.
    private func collect(_ stream: Stream, from descriptor: Int32) {
        Thread.detachNewThread { [state] in
            ChildStreams.readToEnd(descriptor) { bytes in
                state.change { $0.printed[stream.rawValue] += bytes }
            }
            close(descriptor)
            state.change { $0.streamsEnded += 1 }
        }
    }

    /// Waits for the end of the child on a thread of its own, and reaps it. waitid(2), waitpid(2).
    private func reap() {
        Thread.detachNewThread { [state, pid] in
            var info = siginfo_t()
            while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            let now = ContinuousClock.now
            // Not reaped yet, the child still owns the number of its group: nobody else is hit.
            _ = Glibc.kill(-pid, SIGKILL)
            state.change { state in
                var status: Int32 = 0
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                state.exit = ExitStatus(waitStatus: status)
                state.endedAt = now
            }
        }
    }

    /// The path of an executable. Daemons live in `sbin`, which is not in everybody's `$PATH`.
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

/// The least a program runs well with: `PATH` and a UTF-8 locale, and what is added.
public func minimalEnvironment(_ added: [String: String] = [:]) -> [String: String] {
    var environment = ["LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"]
    // Where the toolchain keeps its libraries if not where the programs were linked to look, and what
    // programs are told that were built with a sanitizer.
    for name in ["LD_LIBRARY_PATH", "TSAN_OPTIONS", "ASAN_OPTIONS"] {
        if let value = getenv(name) { environment[name] = String(cString: value) }
    }
    return environment.merging(added) { _, new in new }
}

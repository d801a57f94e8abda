import ArgumentParser
import CClient
import CLinux
import CacheWire
import Glibc

/// The start of the daemon in the background, for `--detach`: this program again, in a session of its own, without the
/// descriptors of the caller.
///
/// The standard error of the other process is a pipe until its socket answers. So the pipe has the reason if it does
/// not start, and its end says that the start is over.
struct Detachment {
    let socket: String

    /// Variables that describe the process that has them, not one that inherits them.
    private static let ownVariables = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS",
        "LISTEN_FDNAMES", "JOURNAL_STREAM", "INVOCATION_ID", "CACHE_DIRECTORY",
    ]
    /// How long a daemon that is starting at the same time may take until it answers.
    private static let patience = Duration.seconds(5)

    /// Takes away variables that look like settings and are none, and says so. A client that starts a daemon passes on all
    /// that it has, which can be names of its own.
    static func leaveUnknownVariables(in environment: inout [String: String]) {
        for name in SettingValues.unknownVariables(environment) {
            let problem = StartFailure.unknown(name, in: "the environment").message
            LogOutput.writeFailure("\(problem) It is ignored")
            environment[name] = nil
            unsetenv(name)
        }
    }

    /// Starts a daemon, unless one answers. Returns when the socket answers.
    ///
    /// - Throws: `StartFailure` or `ExitCode` if none starts. The reason is on standard error.
    func run() throws {
        guard !isAnswered else { return }
        for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) }
        for name in Self.ownVariables { unsetenv(name) }
        var child = cclient_child()
        let result = start(&child)
        guard result == 0 else {
            throw StartFailure(
                message: "cannot start another process: \(String(cString: strerror(result)))",
                exitCode: .temporaryFailure)
        }
        let errors = errors(of: child)
        let limit = ContinuousClock.now + Self.patience
        while !isAnswered {
            let isLate = ContinuousClock.now > limit
            var status: Int32 = 0
            if cclient_has_ended(&child, &status) != 0 {
                // Another daemon holds the directory or the socket, and perhaps is about to answer.
                if status != ExitCode.temporaryFailure.rawValue || isLate {
                    write(STDERR_FILENO, errors, errors.count)
                    throw status > 0 ? ExitCode(status) : .temporaryFailure
                }
            } else if isLate {
                throw StartFailure(
                    message: "the daemon was started and does not answer at \(socket)",
                    exitCode: .temporaryFailure)
            }
            usleep(10_000)
        }
    }

    private var isAnswered: Bool {
        do {
            _ = try Client(paths: [socket]).call(Methods.Where.self, .init())
            return true
        } catch {
            return false
        }
    }

    /// Returns 0 or an errno.
    private func start(_ child: inout cclient_child) -> Int32 {
        let words = CommandLine.arguments.filter { $0 != "--detach" } + ["--detached"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        return cclient_spawn("/proc/self/exe", &arguments, &child)
    }

    /// All that a process writes until its standard error ends.
    private func errors(of child: cclient_child) -> [UInt8] {
        var text: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(child.errors, &room, room.count)
            if count > 0 { text += room.prefix(count) }
            if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { return text }
            if count < 0 { _ = cclient_wait(child.errors, 0, 1000) }
        }
    }

    // MARK: In the other process

    /// Leaves the working directory and the umask of the caller, before the daemon restricts itself. Relative paths of
    /// the settings begin in the working directory, so it stays for them.
    static func begin(_ settings: Settings) {
        // It would be `exe`, and ps, pgrep and killall would not find the daemon. proc(5)
        clinux_name_thread("cached")
        umask(0o022)
        if !settings.needsWorkingDirectory { chdir("/") }
    }

    /// The socket answers: ends the standard error, for which the caller waits.
    static func complete() {
        dup2(STDOUT_FILENO, STDERR_FILENO)
    }
}

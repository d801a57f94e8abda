import Glibc

/// Runs a program that draws or opens a picture.
struct ExternalProgram {
    /// The path of the program; `nil` if it is not installed. access(2).
    static func find(_ name: String) -> String? {
        guard !name.contains("/") else { return access(name, X_OK) == 0 ? name : nil }
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return path.split(separator: ":").map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 }
    }

    /// Runs the program on this process's standard streams and waits until it ends. Returns whether
    /// it succeeded. posix_spawn(3), waitpid(2).
    static func run(_ name: String, _ arguments: [String]) -> Bool {
        start(name, arguments).map(succeeded) ?? false
    }

    /// Runs the program, and returns what it writes to standard output; `nil` if it fails. It reads
    /// nothing, and its messages are dropped. pipe(2).
    static func output(_ name: String, _ arguments: [String]) -> String? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        let process = start(name, arguments, &actions)
        close(ends[1])
        defer { close(ends[0]) }
        guard let process else { return nil }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(ends[0], &piece, piece.count)
            if count > 0 { bytes += piece[..<count] } else if count == 0 || errno != EINTR { break }
        }
        return succeeded(process) ? String(decoding: bytes, as: UTF8.self) : nil
    }

    private static func start(
        _ name: String, _ arguments: [String],
        _ actions: UnsafePointer<posix_spawn_file_actions_t>? = nil
    ) -> pid_t? {
        guard let program = find(name) else { return nil }
        var argv = ([name] + arguments).map { strdup($0) } + [nil]
        defer { argv.forEach { free($0) } }
        var process = pid_t()
        return posix_spawn(&process, program, actions, nil, &argv, environ) == 0 ? process : nil
    }

    private static func succeeded(_ process: pid_t) -> Bool {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status == 0
    }
}

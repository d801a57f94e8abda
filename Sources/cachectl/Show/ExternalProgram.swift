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
        guard let program = find(name) else { return false }
        var argv = ([name] + arguments).map { strdup($0) } + [nil]
        defer { argv.forEach { free($0) } }
        var process = pid_t()
        guard posix_spawn(&process, program, nil, nil, &argv, environ) == 0 else { return false }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status == 0
    }
}

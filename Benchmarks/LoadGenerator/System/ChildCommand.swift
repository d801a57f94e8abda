@preconcurrency import Glibc

/// A command that can be run many times; everything that stays the same is prepared once.
final class ChildCommand {
    private let words: [String]
    /// `words` as C strings, ended by NULL.
    private let arguments: [UnsafeMutablePointer<CChar>?]
    private var fileActions = posix_spawn_file_actions_t()

    init(_ words: [String]) {
        self.words = words
        arguments = words.map { strdup($0) } + [nil]
        posix_spawn_file_actions_init(&fileActions)
        posix_spawn_file_actions_addopen(&fileActions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&fileActions, 1, "/dev/null", O_WRONLY, 0)
    }

    deinit {
        posix_spawn_file_actions_destroy(&fileActions)
        for argument in arguments { free(argument) }
    }

    /// Runs the command to its end with the caller's environment. posix_spawnp(3), waitpid(2).
    func run(expecting expected: Int) throws {
        var pid: pid_t = 0
        let result = posix_spawnp(&pid, arguments[0]!, &fileActions, nil, arguments, environ)
        guard result == 0 else { throw BenchFailure("cannot start \(words[0])", errno: result) }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { throw BenchFailure("waitpid", errno: errno) }
        }
        // WIFEXITED and WEXITSTATUS, which are macros.
        let exited = status & 0x7F == 0
        guard exited, Int(status >> 8 & 0xFF) == expected else {
            let how = exited ? "status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
            throw BenchFailure("\(words.joined(separator: " ")) ended with \(how)")
        }
    }
}

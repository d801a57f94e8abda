import CTestSupport
import Glibc

/// Everything needed to start a child.
struct SpawnRequest: Sendable {
    let executable: String
    let arguments: [String]
    let environment: [String: String]
    /// Our descriptors that become the child's 0, 1 and 2. They stay open here, and are greater than 2.
    let descriptors: [Int32]

    private static let parentDeathWrapper = "/usr/bin/setpriv"

    /// Starts the child as the leader of its own process group, with default signals and only the given
    /// descriptors. posix_spawn(3).
    func spawn() throws -> pid_t {
        try Spawner.shared.run { try spawnHere() }
    }

    private func spawnHere() throws -> pid_t {
        guard access(executable, X_OK) == 0 else { throw TestFailure.syscall("exec", executable) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (theirs, ours) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, ours, Int32(theirs))
        }
        // Descriptors that this process inherited are closed in the child too.
        ctest_close_from(&actions, Int32(descriptors.count))

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var command = [executable] + arguments
        if access(Self.parentDeathWrapper, X_OK) == 0 {
            command = [Self.parentDeathWrapper, "--pdeathsig", "KILL", "--"] + command
        }
        var argv: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var envp: [UnsafeMutablePointer<CChar>?] =
            environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for string in argv + envp { free(string) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, command[0], &actions, &attributes, &argv, &envp)
        guard code == 0 else { throw TestFailure.syscall("posix_spawn", executable, errno: code) }
        return pid
    }
}

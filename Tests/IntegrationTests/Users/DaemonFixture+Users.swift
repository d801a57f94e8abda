import Glibc
import TestSupport

extension DaemonFixture {
    /// Starts a daemon to which every user may connect.
    static func forAllUsers(
        _ launcher: [String] = [], arguments: [String] = [], in scope: TestScope
    ) async throws -> DaemonFixture {
        let home = try TemporaryDirectory(in: scope)
        chmod(home.path, 0o755)
        var options = Options()
        options.arguments = ["--socket-mode", "666"] + arguments
        options.directory = home.file("cache")
        options.socket = home.file("s")
        options.launcher = launcher
        return try await start(options, in: scope)
    }
}

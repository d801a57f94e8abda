import Glibc
import TestSupport
import Testing

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

    /// Fetches an image for a user beside downloads that never succeed, and returns how long that took. The image must
    /// come before any of those has ended.
    @discardableResult
    func newcomersImage(
        _ url: String, for user: TestUser, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Duration {
        let before = try await metric("failed")
        let time = try await user.measure(TestUser.fetch, socket, [url])
        let ended = try await metric("failed") - before
        #expect(
            ended == 0, "\(ended) downloads failed before the image came, after \(time)",
            sourceLocation: sourceLocation)
        // The shortest limit of such a download is 11 s. UserShareTests has the moment at which one gives way.
        #expect(time < .seconds(5), "the image took \(time)", sourceLocation: sourceLocation)
        return time
    }
}

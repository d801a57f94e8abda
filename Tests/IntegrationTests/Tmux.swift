import Foundation
import TestSupport

/// A real terminal with a shell in it: tmux(1), whose server belongs to the test.
struct Tmux: Sendable {
    private let socket: String
    private let server: ChildProcess

    static let isInstalled = ["/usr/local/bin", "/usr/bin", "/bin"].contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/tmux")
    }

    /// A terminal of this size.
    init(columns: Int, lines: Int, in scope: TestScope) async throws {
        socket = try TemporaryDirectory(in: scope).file("t")
        let environment = minimalEnvironment(["HOME": "/nonexistent", "SHELL": "/bin/sh"])
        // In the foreground, so that it ends with the test whatever happens.
        server = try ChildProcess(
            "tmux", ["-S", socket, "-f", "/dev/null", "-D"], environment: environment, in: scope)
        try await server.waitForSocket(socket)
        try await tell("new-session", "-d", "-x", "\(columns)", "-y", "\(lines)", "env PS1='$ ' sh")
    }

    /// Types a line and Enter.
    func type(_ line: String) async throws {
        try await tell("send-keys", "-l", line)
        try await press("Enter")
    }

    /// Presses keys, by the names tmux(1) gives them.
    func press(_ keys: String...) async throws {
        try await tell(["send-keys"] + keys)
    }

    func resize(columns: Int, lines: Int) async throws {
        try await tell("resize-window", "-x", "\(columns)", "-y", "\(lines)")
    }

    /// What can be read on the screen, line by line.
    func screen() async throws -> [String] {
        try await tell("capture-pane", "-p").split(
            separator: "\n", omittingEmptySubsequences: false
        ).dropLast().map(String.init)
    }

    /// Waits until the screen is as it should be, and returns it.
    @discardableResult
    func waitForScreen(
        _ what: String, where isRight: ([String]) -> Bool
    ) async throws -> [String] {
        var last: [String] = []
        do {
            return try await eventually(what) {
                last = try await screen()
                return isRight(last) ? last : nil
            }
        } catch {
            throw TestFailure("\(error); the screen is\n" + last.joined(separator: "\n"))
        }
    }

    /// Waits until some line contains a text.
    @discardableResult
    func waitFor(_ text: String) async throws -> [String] {
        try await waitForScreen("'\(text)' on the screen") { $0.contains { $0.contains(text) } }
    }

    /// Whether the program has left the alternate screen and shown the cursor again.
    func isOrdinary() async throws -> Bool {
        try await tell("display-message", "-p", "#{alternate_on} #{cursor_flag} #{wrap_flag}")
            == "0 1 1\n"
    }

    @discardableResult
    private func tell(_ command: String...) async throws -> String {
        try await tell(command)
    }

    @discardableResult
    private func tell(_ command: [String]) async throws -> String {
        try await runSuccessfully("tmux", ["-S", socket] + command)
    }
}

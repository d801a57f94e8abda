import Foundation
import TestSupport

/// A real terminal with a shell: tmux(1), with a server of the test's own.
struct Tmux: Sendable {
    private let socket: String
    private let server: ChildProcess

    static let isInstalled = ["/usr/local/bin", "/usr/bin", "/bin"].contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/tmux")
    }

    /// Starts a terminal of this size.
    init(columns: Int, lines: Int, in scope: TestScope) async throws {
        socket = try TemporaryDirectory(in: scope).file("t")
        let environment = minimalEnvironment(["HOME": "/nonexistent", "SHELL": "/bin/sh"])
        // In the foreground, so that it always ends with the test.
        server = try ChildProcess(
            "tmux", ["-S", socket, "-f", "/dev/null", "-D"], environment: environment, in: scope)
        try await server.waitForSocket(socket)
        try await tell("new-session", "-d", "-x", "\(columns)", "-y", "\(lines)", "env PS1='$ ' sh")
        // Keys that are typed earlier would be shown before the prompt.
        try await waitForScreen("the prompt") { $0.first?.hasPrefix("$") == true }
    }

    /// Types a line and Enter.
    func type(_ line: String) async throws {
        try await tell("send-keys", "-l", line)
        try await press("Enter")
    }

    /// Presses keys, given by their names in tmux(1).
    func press(_ keys: String...) async throws {
        try await tell(["send-keys"] + keys)
    }

    func resize(columns: Int, lines: Int) async throws {
        try await tell("resize-window", "-x", "\(columns)", "-y", "\(lines)")
    }

    /// Sends bytes as the terminal does, for example those of a click.
    func send(_ text: String) async throws {
        try await tell("send-keys", "-l", text)
    }

    /// The text on the screen, line by line, without spaces at the ends.
    func screen() async throws -> [String] {
        try await tell("capture-pane", "-p").split(
            separator: "\n", omittingEmptySubsequences: false
        ).dropLast().map { String($0.replacing(/\ +$/, with: "")) }
    }

    /// Text that a program has put into the clipboard.
    func clipboard() async throws -> String {
        try await tell("show-buffer")
    }

    /// Lets programs use the clipboard.
    func permitClipboard() async throws {
        try await tell("set-option", "-s", "set-clipboard", "on")
    }

    /// Waits until the screen is as expected, and returns it.
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

    /// Waits until a line contains this text.
    @discardableResult
    func waitFor(_ text: String) async throws -> [String] {
        try await waitForScreen("'\(text)' on the screen") { $0.contains { $0.contains(text) } }
    }

    /// Whether the program has left the alternate screen and restored the cursor, line wrapping and
    /// the mouse.
    func isOrdinary() async throws -> Bool {
        try await tell(
            "display-message", "-p",
            "#{alternate_on} #{cursor_flag} #{wrap_flag} #{mouse_any_flag}") == "0 1 1 0\n"
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

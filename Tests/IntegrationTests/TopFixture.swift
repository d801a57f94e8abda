import Foundation
import TestSupport

/// `cachectl top` on a terminal, a daemon limited to three concurrent downloads, and an origin that stops
/// in the middle of each download.
struct TopFixture: Sendable {
    let daemon: DaemonFixture
    let origin: ScriptedOrigin
    let terminal: Tmux
    /// Stops all downloads.
    let gate: Gate
    private let folder: TemporaryDirectory

    init(columns: Int, lines: Int, attempts: Int = 1, in scope: TestScope) async throws {
        // Must outlive the terminal, whose shell writes into it.
        folder = try TemporaryDirectory(in: scope)
        gate = try Gate()
        origin = try ScriptedOrigin(in: scope)
        var options = DaemonFixture.Options()
        options.arguments = ["--max-transfers", "3", "--attempts", "\(attempts)"]
        // The same after a restart.
        options.socket = folder.file("socket")
        daemon = try await DaemonFixture.start(options, in: scope)
        terminal = try await Tmux(columns: columns, lines: lines, in: scope)
    }

    /// Starts downloads that stop after this many quarters. A few more bytes make sure that the reported
    /// progress, which lags by at most 1 %, looks the same.
    func fetch(quarters: Int, _ names: [String]) async throws {
        let image = SampleImage.png(byteCount: 400_000)
        for name in names {
            origin.route(name, .gated(image, after: quarters * 100_000 + 8800, gate))
            try await daemon.cachectl("fetch", "--no-wait", "-", input: lines([name]))
        }
    }

    /// Queues further downloads. They are prefetches, because the ones that stand still would stop for anything else.
    func queue(_ count: Int) async throws {
        let image = SampleImage.png(byteCount: 2000)
        let names = (1000..<(1000 + count)).map { "/gallery/holiday/of/2026/waiting-\($0).png" }
        for name in names { origin.route(name, .answer(body: image)) }
        try await daemon.cachectl(
            "fetch", "--priority", "background", "--no-wait", "-", input: lines(names))
    }

    private func lines(_ names: [String]) -> [UInt8] {
        Array(names.map { origin.url($0) + "\n" }.joined().utf8)
    }

    // MARK: The program

    /// Starts `top` from the shell, which saves the terminal's modes before and after, and the exit status.
    ///
    /// - Parameters:
    ///   - shell: runs `top` over this connection.
    ///   - path: the first folder in which `top` looks for programs.
    func start(
        _ options: String = "", over shell: SecureShell? = nil, path: String? = nil
    ) async throws {
        let program = try BuiltProducts.program("cachectl")
        let search = path.map { "PATH='\($0)':$PATH " } ?? ""
        let top = "\(search)'\(program)' top --socket \(daemon.socket) \(options)"
        let command = shell.map { "\($0.command) \"\(top)\"" } ?? top
        try await terminal.type(
            "stty -g > \(file("before")); \(command); echo $? > \(file("status")); "
                + "stty -g > \(file("after")); echo ended")
        try await terminal.waitFor("under way")
    }

    /// The process ID of `top`.
    func process() async throws -> Int32 {
        let output = try await runSuccessfully("pgrep", ["-f", "top --socket \(daemon.socket)"])
        guard let line = output.split(separator: "\n").last, let pid = Int32(line) else {
            throw TestFailure("top is not running")
        }
        return pid
    }

    /// Waits for its end. Returns the exit status, and whether the terminal was restored.
    func end() async throws -> (status: String, isRestored: Bool) {
        try await terminal.waitForScreen("the end of top") { $0.contains("ended") }
        let modes = try ["before", "after"].map {
            try String(contentsOfFile: file($0), encoding: .utf8)
        }
        let status = try String(contentsOfFile: file("status"), encoding: .utf8)
        let isOrdinary = try await terminal.isOrdinary()
        return (
            status.trimmingCharacters(in: .whitespacesAndNewlines),
            modes[0] == modes[1] && !modes[0].isEmpty && isOrdinary
        )
    }

    private func file(_ name: String) -> String { folder.file(name) }

    // MARK: The screen

    /// Waits until the cached images are listed in this order.
    func waitForRows(_ order: String) async throws {
        try await terminal.waitForScreen("rows, \(order)") { screen in
            screen.contains { $0.contains(order) } && screen.contains { $0.contains("2.0 kB") }
        }
    }

    /// Masks the parts of the screen that vary: the rate and the time left of all, the origin's port, and
    /// the last bytes reported.
    func masked(_ screen: [String]) -> [String] {
        screen.enumerated().map { index, line in
            guard index != 1 else { return "" }
            return
                line
                .replacing(/127\.0\.0\.1:\d+/) { match in
                    "127.0.0.1:" + String(repeating: "P", count: match.output.count - 10)
                }
                .replacing(/\d\d %/, with: "## %")
                .replacing(/[▏▎▍▌▋▊▉]/, with: "▌")
                .replacing(/\d{3} kB\/400/, with: "### kB/400")
        }
    }

    /// Whether the screen equals the stored one. `CACHED_TEST_RECORD=1` stores it first.
    func isStored(_ screen: [String], as name: String) throws -> Bool {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Screens/\(name).txt")
        let text = masked(screen).joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["CACHED_TEST_RECORD"] != nil {
            try Data(text.utf8).write(to: file)
        }
        return try text == String(contentsOf: file, encoding: .utf8)
    }
}

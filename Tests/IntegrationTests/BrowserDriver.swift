import Foundation
import Synchronization
import TestSupport

/// Debian's chromium without a screen, driven by `Browser/driver.py`.
final class BrowserDriver: Sendable {
    /// The page as a person sees it.
    struct Report: Decodable {
        struct Cell: Decodable {
            var title: String
            var note: String
            /// The text in place of a picture.
            var instead: String
            /// The text that a screen reader says.
            var name: String
            /// The text in the ring.
            var percent: String
            var isTurning: Bool
            /// A key of the table of states, or `unknown`.
            var state: String
            /// `picture`, `ring`, `shimmer`, `gone`, `failed`, or `text` if there is no preview.
            var look: String
            /// Whether the light falls into it.
            var isLit: Bool
            /// The marks, with spaces between them.
            var marks: String
            var isActive: Bool
            /// Whether it is one of the downloads above the grid.
            var isInShelf: Bool
            var width: Int
            var height: Int
        }

        /// The cells on the screen, in their order.
        var cells: [Cell]
        /// Whether there is a light behind them.
        var isLit: Bool
        /// The animations that run.
        var animations: Int
        /// The text beside the overall bar; `nil` if there is no bar.
        var work: String?
        /// How many downloads failed, in words, and the groups of them that are shown.
        var failed: String
        var failures: [String]
        var label: String
        var outage: String
        var notice: String
        var count: String
        var spoken: String
        /// The text of the drawer; `nil` if it is closed.
        var drawer: String?

        /// How many cells have this look.
        func count(_ look: String) -> Int { cells.count { $0.look == look } }

        /// The cell with a title.
        func cell(_ title: String) -> Cell? { cells.first { $0.title == title } }
    }

    struct Frames: Decodable {
        var frames: Int
        var paints: Int
        var layouts: Int
    }

    struct Log: Decodable {
        struct Call: Decodable {
            struct Body: Decodable {
                var urls: [String]?
            }

            var name: String
            var body: Body
        }

        /// The errors in the console of the page.
        var errors: [String]
        /// The actions that the page asked for.
        var calls: [Call]

        /// The URLs that the page has asked to watch last.
        var watched: [String] { calls.last { $0.name == "visible" }?.body.urls ?? [] }
    }

    struct Node: Decodable {
        var role: String
        var name: String
        var value: String
    }

    struct Nothing: Decodable {}

    private let process: ChildProcess
    private let commands: FIFO
    private let count = Mutex(0)

    /// The Python that has playwright; `.ci/python-clients` prepares it.
    private static let interpreter = ProcessInfo.processInfo.environment["CACHED_TEST_PYTHON"]

    /// Whether there is a browser and a driver for it, with these modules.
    static func isInstalled(with modules: String = "playwright") async throws -> Bool {
        guard let interpreter, FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium")
        else { return false }
        return try await run(interpreter, ["-c", "import \(modules)"]).status == .success
    }

    init(in scope: TestScope) async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Browser/driver.py").path(percentEncoded: false)
        let home = try TemporaryDirectory(in: scope)
        commands = try FIFO(in: scope)
        guard let interpreter = Self.interpreter else { throw TestFailure("no interpreter") }
        process = try ChildProcess(
            "sh", ["-c", #"exec "$1" "$2" < "$0""#, commands.path, interpreter, script],
            environment: minimalEnvironment([
                "HOME": home.path, "TMPDIR": home.path, "PYTHONDONTWRITEBYTECODE": "1",
                "DBUS_SESSION_BUS_ADDRESS": "disabled:",
            ]), in: scope)
        // The browser is a process group of its own: it ends with the script only if that ends by itself.
        scope.atEnd { [process, commands] in
            guard process.exitStatus == nil else { return }
            try commands.write("{\"do\":\"quit\"}\n")
            try await process.waitForExit()
        }
        try await process.waitForLine(containing: "ready", on: .standardOutput)
    }

    // MARK: Commands

    /// Loads the page again, and waits for it.
    func reload() async throws { _ = try await ask("reload", [:], as: Nothing?.self) }

    /// Opens a page in place of the one before.
    ///
    /// - Parameters:
    ///   - scheme: `light` or `dark`.
    ///   - motion: `reduce` or `no-preference`.
    ///   - colors: `active` for forced colours, or `none`.
    ///   - scale: the pixels of the device in one of the page.
    ///   - touch: whether it is a phone.
    func open(
        _ url: String, width: Int = 1280, height: Int = 800, scheme: String = "light",
        motion: String = "no-preference", colors: String = "none", scale: Int = 1,
        touch: Bool = false
    ) async throws {
        _ = try await ask(
            "open",
            [
                "url": url, "width": width, "height": height, "scheme": scheme, "motion": motion,
                "colors": colors, "scale": scale, "touch": touch,
            ], as: Nothing?.self)
    }

    func report() async throws -> Report { try await ask("report", as: Report.self) }

    /// The value of an expression or of a function of JavaScript.
    func evaluate<Answer: Decodable & Sendable>(
        _ script: String, as type: Answer.Type = Answer.self
    ) async throws -> Answer {
        try await ask("evaluate", ["script": script], as: type)
    }

    func perform(_ script: String) async throws {
        _ = try await evaluate("{ \(script); null }", as: Nothing?.self)
    }

    func press(_ keys: String...) async throws {
        for key in keys { _ = try await ask("press", ["key": key], as: Nothing?.self) }
    }

    func type(_ text: String) async throws {
        _ = try await ask("type", ["text": text], as: Nothing?.self)
    }

    /// Presses a key, or lets it go.
    func key(_ key: String, isDown: Bool) async throws {
        _ = try await ask("key", ["key": key, "is_down": isDown], as: Nothing?.self)
    }

    /// Moves the mouse through these points of the window, with its button pressed from the first one on.
    func drag(_ points: [Double]..., letsGo: Bool = true) async throws {
        _ = try await ask("drag", ["points": points, "lets_go": letsGo], as: Nothing?.self)
    }

    /// Lets the button of the mouse go.
    func letGo() async throws { _ = try await ask("let_go", [:], as: Nothing?.self) }

    /// Moves the mouse to a point of the window.
    func point(x: Double, y: Double) async throws {
        _ = try await ask("point", ["x": x, "y": y], as: Nothing?.self)
    }

    func click(_ selector: String) async throws {
        _ = try await ask("click", ["selector": selector], as: Nothing?.self)
    }

    func choose(_ value: String, in selector: String) async throws {
        _ = try await ask("choose", ["selector": selector, "value": value], as: Nothing?.self)
    }

    /// How many pixels change while the light moves and lie outside of the tiles that it lights.
    func leaks() async throws -> Int { try await ask("leaks", as: Int.self) }

    /// What axe-core finds to be hard for people who cannot see, or use no mouse.
    func axe() async throws -> [String] { try await ask("axe", as: [String].self) }

    func log() async throws -> Log { try await ask("log", as: Log.self) }

    func screenshot(_ path: String) async throws {
        _ = try await ask("screenshot", ["path": path], as: Nothing?.self)
    }

    /// The page's own memory in bytes.
    func memory() async throws -> Int { try await ask("memory", as: Int.self) }

    /// The processor time of the page in the next seconds, in milliseconds for each second.
    func usage(seconds: Int) async throws -> Double {
        try await ask("usage", ["seconds": seconds], as: Double.self)
    }

    /// The frames that are drawn in the next seconds.
    func frames(seconds: Int) async throws -> Frames {
        try await ask("frames", ["seconds": seconds], as: Frames.self)
    }

    /// The announcements for a screen reader.
    func accessibility() async throws -> [Node] { try await ask("accessibility", as: [Node].self) }

    private func ask<Answer: Decodable>(
        _ command: String, _ parameters: [String: Any] = [:], as _: Answer.Type
    ) async throws -> Answer {
        let number = count.withLock { count in
            defer { count += 1 }
            return count
        }
        let line = try JSONSerialization.data(
            withJSONObject: parameters.merging(["do": command]) { $1 })
        try commands.write(String(decoding: line, as: UTF8.self) + "\n")
        let prefix = "answer \(number) "
        let answer = try await process.waitForLine(containing: prefix, on: .standardOutput)
        return try JSONDecoder().decode(
            Answer.self, from: Data(answer.dropFirst(prefix.count).utf8))
    }
}

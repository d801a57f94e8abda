import Foundation
import Synchronization
import TestSupport

/// The gallery of `examples/gtk` on a display of its own, controlled by a test. xvfb-run(1).
final class GalleryDriver: Sendable {
    /// The state of the gallery.
    struct Report: Decodable {
        struct Cell: Decodable {
            /// The drawing of a cell: shimmer, ring, empty, picture or failed.
            var look: String
            /// -1 if unknown.
            var fraction: Double
            var message: String
        }

        /// The cells on the screen, by URL, from the positions of the widgets.
        var onScreen: [String: Cell]
        /// The URLs that the gallery takes for visible.
        var visible: [String]
        /// The priorities of the URLs that are wanted: 0 background, 2 visible.
        var wanted: [String: Int]
        /// All frames drawn so far.
        var frames: Int
        /// Whether it asks for frames.
        var isMoving: Bool
        /// The number of pictures in memory, except those that only cells hold.
        var textures: Int

        /// How many cells on the screen have this look.
        func count(_ look: String) -> Int { onScreen.values.count { $0.look == look } }
    }

    /// The pixels of a cell on the screen.
    struct Pixels: Decodable {
        /// How many have the colour of the ring.
        var ring: Int
        /// How many have the colour of ``SampleImage``s with the seed 90.
        var picture: Int
    }

    struct Idle: Decodable {
        var frames: Int
    }

    private let process: ChildProcess
    private let commands: FIFO
    private let answers: TemporaryDirectory
    private let count = Mutex(0)

    /// The Python of the Debian packages; another one may come first in the path.
    private static let python = "/usr/bin/python3"

    /// Whether the packages of the group `gtk` are installed.
    static func isInstalled() async throws -> Bool {
        let modules = "import cairo, gi; gi.require_version('Gtk', '4.0')"
        let check = #"command -v xvfb-run && command -v import && exec "$0" -c "$1""#
        return try await run("sh", ["-c", check, python, modules]).status == .success
    }

    init(_ daemon: DaemonFixture, urls: [String], in scope: TestScope) async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().path(
            percentEncoded: false)
        let temporary = try TemporaryDirectory(in: scope)
        var libraries = try await Libcached.directory()
        if let others = minimalEnvironment()["LD_LIBRARY_PATH"] { libraries += ":" + others }
        commands = try FIFO(in: scope)
        answers = try TemporaryDirectory(in: scope)
        process = try ChildProcess(
            "sh",
            [
                "-c", #"exec "$@" < "$0""#, commands.path, "xvfb-run", "--auto-servernum",
                "--server-args=-screen 0 880x600x24", Self.python,
                script + "ThirdParty/gtk-driver.py", answers.path,
            ] + urls,
            environment: minimalEnvironment([
                "CACHED_SOCKET": daemon.socket, "CACHE_DIRECTORY": daemon.directory,
                "LD_LIBRARY_PATH": libraries, "HOME": temporary.path, "TMPDIR": temporary.path,
                "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "PYTHONDONTWRITEBYTECODE": "1",
                "DBUS_SESSION_BUS_ADDRESS": "disabled:",
            ]), in: scope)
        // xvfb-run stops its server only if the program ends by itself.
        scope.atEnd { [process, commands] in
            guard process.exitStatus == nil else { return }
            try commands.write("quit\n")
            try await process.waitForExit()
        }
        try await waitUntil("the first cells") { try await !report().onScreen.isEmpty }
    }

    func report() async throws -> Report { try await ask("report") }

    /// Moves a row to the top.
    ///
    /// - Returns: what the first frame at the new position shows.
    func scroll(toRow row: Int) async throws -> Report { try await ask("scroll \(row)") }

    /// The pixels of the visible cells, by URL, in a picture of the screen.
    func screenshot(_ file: String) async throws -> [String: Pixels] {
        try await ask("screenshot \(file)")
    }

    /// Waits, and counts the frames that are drawn in this time.
    func framesWhileIdle(seconds: Int) async throws -> Int {
        (try await ask("idle \(seconds)") as Idle).frames
    }

    private func ask<Answer: Decodable>(_ command: String) async throws -> Answer {
        let number = count.withLock { count in
            count += 1
            return count
        }
        try commands.write(command + "\n")
        try await process.waitForLine(containing: "answer \(number).", on: .standardOutput)
        let answer = try contents(of: answers.file("\(number).json"))
        return try JSONDecoder().decode(Answer.self, from: Data(answer))
    }
}

import Foundation
import Synchronization
import TestSupport

/// The gallery of `examples/gtk` on a display of its own, controlled by a test. xvfb-run(1).
final class GalleryDriver: Sendable {
    /// The state of the gallery.
    struct Report: Decodable {
        struct Cell: Decodable {
            /// missing, in-flight, cached or failed.
            var state: String
            /// -1 if unknown.
            var fraction: Double
            /// The image in words.
            var description: String
            var hasPicture: Bool
        }

        /// The cells on the screen, by URL, from the positions of the widgets.
        var onScreen: [String: Cell]
        /// The URLs of all rows that have a widget, seen or not.
        var bound: [String]
        /// All frames drawn so far.
        var frames: Int
        /// The bytes of the pictures in memory, without those that only widgets hold.
        var memory: Int

        /// How many cells on the screen show a picture.
        var pictures: Int { onScreen.values.count(where: \.hasPicture) }
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

    init(_ daemon: DaemonFixture, urls: [String], in scope: TestScope) async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().path(
            percentEncoded: false)
        commands = try FIFO(in: scope)
        answers = try TemporaryDirectory(in: scope)
        process = try ChildProcess(
            "sh",
            ["-c", #"exec "$@" < "$0""#, commands.path]
                + CachedGTK.onDisplay(
                    [CachedGTK.python, script + "ThirdParty/gtk-driver.py", answers.path] + urls),
            environment: try await CachedGTK.environment(daemon, in: scope), in: scope)
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

    /// Does to an image what the Return key does.
    func activate(_ number: Int) async throws -> Report { try await ask("activate \(number)") }

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

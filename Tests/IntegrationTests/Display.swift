import Foundation
import TestSupport

/// A program on a display of its own, of which pictures can be taken. xvfb-run(1), import(1).
struct Display: Sendable {
    private let process: ChildProcess
    private let commands: FIFO
    private let picture: String

    init(_ words: [String], _ daemon: DaemonFixture, in scope: TestScope) async throws {
        commands = try FIFO(in: scope)
        picture = try TemporaryDirectory(in: scope).file("screen.png")
        // Takes a picture for each line that it reads. xvfb-run stops its server only if its program ends by itself.
        let script = """
            "$@" & program=$!
            while read -r file && [ "$file" != end ]; do import -window root "png:$file"; echo taken; done < "$0"
            kill $program; wait $program || true
            """
        process = try ChildProcess(
            "xvfb-run",
            Array(CachedGTK.onDisplay(["sh", "-c", script, commands.path] + words).dropFirst()),
            environment: try await CachedGTK.environment(daemon, in: scope), in: scope)
        scope.atEnd { [process, commands] in
            guard process.exitStatus == nil else { return }
            try commands.write("end\n")
            try await process.waitForExit()
        }
    }

    /// How many pixels of the screen have this shade of grey, or nearly so, since JPEG is not exact.
    func pixels(ofGrey shade: Int) async throws -> Int {
        let before = process.text(.standardOutput).count { $0 == "\n" }
        try commands.write(picture + "\n")
        try await waitUntil("a picture of the screen") {
            process.text(.standardOutput).count { $0 == "\n" } > before
        }
        let histogram = try await runSuccessfully(
            "convert",
            [picture, "-colorspace", "gray", "-depth", "8", "-format", "%c", "histogram:info:-"])
        return histogram.split(separator: "\n").reduce(0) { sum, line in
            let isNear = (shade - 2...shade + 2).contains {
                line.contains("(\($0))") || line.contains("(\($0),\($0),\($0)")
            }
            let count = line.split(separator: ":").first.flatMap {
                Int($0.trimmingCharacters(in: .whitespaces))
            }
            return sum + (isNear ? count ?? 0 : 0)
        }
    }
}

import Foundation
import TestSupport
import Testing

/// The lines of the daemon's log.
@Suite("Log", .timeLimit(.minutes(5)))
struct LogTests {
    @Test func failedDownloadsAreLoggedAFewTimesForEachHost() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let urls = (0..<8).map { origin.url("/\($0)\u{202E}.png?token=secret") }
            for url in urls { _ = try await daemon.fetch(url) }
            try await daemon.stop()
            let lines = daemon.log.split(separator: "\n")
            let failures = lines.filter { $0.contains("download failed") }
            #expect(failures.count == 5)
            for (number, line) in failures.enumerated() {
                #expect(line.contains("info: download failed "), "\(line)")
                #expect(line.contains("kind=http"), "\(line)")
                #expect(line.contains("/\(number)\\u{202E}.png?…"), "\(line)")
            }
            let rest = try #require(lines.first { $0.contains("more downloads failed") })
            #expect(rest.contains("downloads=3") && rest.contains("host=\(origin.url(""))"))
            #expect(!daemon.log.contains("secret") && !daemon.log.contains("\u{202E}"))
        }
    }

    @Test func queriesAreShownIfAsked() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(["--log-queries", "yes"], in: scope)
            let origin = try ScriptedOrigin(in: scope)
            _ = try await daemon.fetch(origin.url("/a.png?size=2"))
            try await daemon.process.waitForLine(containing: "/a.png?size=2")
        }
    }

    /// The journal is a socket; a program knows it by the numbers of its standard error.
    @Test func underTheJournalLinesHavePrioritiesAndNoTimes() async throws {
        try await withTestScope { scope in
            var options = DaemonFixture.Options()
            options.launcher = [
                "sh", "-c",
                #"JOURNAL_STREAM=$(stat -L -c %d:%i /proc/$$/fd/2) exec "$@""#, "sh",
            ]
            let daemon = try await DaemonFixture.start(options, in: scope)
            try await daemon.process.waitForLine(containing: "listening")
            for line in daemon.log.split(separator: "\n") {
                #expect(line.wholeMatch(of: /<[2-7]>[A-Za-z].*/) != nil, "\(line)")
            }
            #expect(daemon.log.contains("<6>listening directory=\(daemon.directory) socket="))
        }
    }

    @Test func aStartThatFailsIsAnErrorInTheJournal() async throws {
        let output = try await run(
            "sh",
            [
                "-c", #"JOURNAL_STREAM=$(stat -L -c %d:%i /proc/$$/fd/2) exec "$@""#, "sh",
                BuiltProducts.program("cached"), "--attempts", "\u{1B}[2J",
            ])
        #expect(output.status == .exited(78))
        #expect(output.errorText.hasPrefix("<3>cached: --attempts (CACHED_ATTEMPTS) is "))
        #expect(output.errorText.contains(#"\u{1B}[2J"#) && !output.errorText.contains("\u{1B}"))
    }

    /// The variable names another stream, as in a program whose standard error was redirected.
    @Test func anotherStandardErrorIsNotTheJournal() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(
                environment: ["JOURNAL_STREAM": "1:2"], in: scope)
            let line = try await daemon.process.waitForLine(containing: "listening")
            let form = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}[+-][0-9]{4} info: listening .*/
            #expect(line.wholeMatch(of: form) != nil, "\(line)")
        }
    }

    @Test func jsonHasOneObjectALine() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(["--log-format", "json"], in: scope)
            try await daemon.stop()
            let messages = try daemon.log.split(separator: "\n").map { line in
                try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
            }.compactMap { $0["message"] }
            #expect(messages.contains("listening") && messages.last == "stopped")
        }
    }
}

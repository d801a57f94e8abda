import Foundation
import TestSupport
import Testing

/// `cachectl top` in a real terminal, against the built daemon.
@Suite(
    "Top", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: Tmux.isInstalled, "tmux is not installed"))
struct TopTests {
    private static func hasProgress(_ screen: [String]) -> Bool {
        screen.contains { $0.contains(/\d\d % .*elephants/) }
    }

    private static let arriving = (1...3).map { "/gallery/holiday/of/2026/elephants-\($0).png" }

    @Test func theScreensMatchTheStoredOnes() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 80, lines: 24, in: scope)
            try await fixture.start()
            try await fixture.terminal.waitFor("nothing to do")
            // A failure that is remembered for no time shows none.
            let missing = "/gallery/holiday/of/2026/missing.png"
            fixture.origin.route(missing, .answer(404, headers: ["Cache-Control": "max-age=0"]))
            try await fixture.daemon.cachectl("fetch", fixture.origin.url(missing))
            try await fixture.terminal.waitFor("1 failed")
            try await fixture.terminal.waitFor("nothing to do")
            for (index, name) in Self.arriving.enumerated() {
                try await fixture.fetch(quarters: index + 1, [name])
                try await fixture.terminal.waitFor("0/\(index + 1)")
            }
            try await fixture.gate.reached(count: 3)
            try await fixture.queue(60)
            for (columns, lines) in [(80, 24), (200, 50), (40, 10), (80, 24)] {
                try await fixture.terminal.resize(columns: columns, lines: lines)
                // The screen shows that no more data arrives.
                let screen = try await fixture.terminal.waitForScreen("the screen at rest") {
                    screen in
                    screen.count == lines
                        && screen.dropFirst(2).count { $0.contains(" 0 B/s") } == 3
                        && screen.count { $0.contains(" queued ") } == lines - 7
                        && screen[1].contains("0/63")
                        && screen[1].hasSuffix(columns == 40 ? "59.png" : "waiting-1059.png")
                }
                #expect(columns < 60 || screen[1].contains(" 0 B/s  "), "\(screen[1])")
                let isStored = try fixture.isStored(screen, as: "top-\(columns)x\(lines)")
                #expect(isStored, "\(screen.joined(separator: "\n"))")
            }
            try await fixture.terminal.press("q")
            let end = try await fixture.end()
            #expect(end.status == "0" && end.isRestored)
            fixture.gate.open()
        }
    }

    @Test func scrollingShowsAllRowsAndWatchesOnlyTheVisibleOnes() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 80, lines: 24, in: scope)
            try await fixture.start("--ascii")
            try await fixture.fetch(quarters: 1, Self.arriving)
            try await fixture.gate.reached(count: 3)
            try await fixture.queue(297)
            try await fixture.terminal.waitFor("300 under way")
            var seen: Set<Substring> = []
            var before: [Substring] = []
            // 21 rows at first; each page shows 20 more, and the last page one less.
            for page in 0..<15 {
                let screen = try await fixture.terminal.waitForScreen("page \(page)") { screen in
                    let known = screen.dropFirst(2).count {
                        $0.contains(" queued ") || $0.contains(" % ")
                    }
                    return known == 21 && screen[2..<23].map { $0.suffix(8) } != before
                }
                before = screen[2..<23].map { $0.suffix(8) }
                seen.formUnion(before)
                try await fixture.terminal.press("PageDown")
            }
            #expect(seen.count == 300)
            // One call watches all downloads, one the visible rows.
            #expect(try await fixture.daemon.metric("watchers") == 2)
            fixture.gate.open()
            try await fixture.terminal.waitFor("nothing to do")
            try await fixture.terminal.press("q")
            let end = try await fixture.end()
            #expect(end.status == "0" && end.isRestored)
        }
    }

    @Test func idleTopAsksOnceASecond() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 80, lines: 24, in: scope)
            try await fixture.start()
            try await fixture.queue(20)
            try await waitUntil("all to be cached") {
                try await fixture.daemon.metric("entries") == 20
            }
            try await fixture.terminal.waitFor("nothing to do")
            let pid = try await fixture.process()
            // For each question it wakes up twice, and never because other clients call the daemon.
            try await waitUntil("top to rest") {
                let (before, start) = (try contextSwitches(of: pid), ContinuousClock.now)
                for _ in 0..<50 { try await fixture.daemon.cachectl("stats") }
                let seconds = start.duration(to: .now) / .seconds(1)
                return try Double(contextSwitches(of: pid) - before) <= 3 * (seconds + 1)
            }
            try await fixture.terminal.press("q")
            #expect(try await fixture.end().isRestored)
        }
    }

    @Test(arguments: ["q", "C-c", "TERM", "HUP"])
    func theTerminalIsRestoredHoweverTopEnds(cause: String) async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 80, lines: 24, in: scope)
            try await fixture.start()
            try await fixture.fetch(quarters: 2, Self.arriving)
            try await fixture.terminal.waitForScreen("progress", where: Self.hasProgress)
            switch cause {
            case "TERM": kill(try await fixture.process(), SIGTERM)
            case "HUP": kill(try await fixture.process(), SIGHUP)
            default: try await fixture.terminal.press(cause)
            }
            let end = try await fixture.end()
            let status = ["q": 0, "C-c": 130, "TERM": 143, "HUP": 129][cause]
            #expect(end.status == "\(status ?? -1)")
            #expect(end.isRestored)
            fixture.gate.open()
        }
    }

    @Test(.enabled(if: SecureShell.isUsable, "ssh to this machine is not possible"))
    func topWorksOverSSH() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 80, lines: 24, in: scope)
            let shell = try await SecureShell(in: scope)
            try await fixture.start(over: shell)
            try await fixture.fetch(quarters: 2, Self.arriving)
            try await fixture.terminal.waitForScreen("progress", where: Self.hasProgress)
            try await fixture.terminal.resize(columns: 100, lines: 30)
            let screen = try await fixture.terminal.waitForScreen("the new size") { screen in
                screen.count == 30 && screen[29].hasPrefix("q quit")
                    && screen.dropFirst(2).count { $0.contains(/\d\d %/) } == 3
            }
            // Rings and bars are transmitted unchanged, and names use the available width.
            #expect(screen.contains { $0.contains("█") })
            try await fixture.terminal.press("Tab")
            try await fixture.terminal.waitFor("newest first")
            try await fixture.terminal.press("q")
            let end = try await fixture.end()
            #expect(end.status == "0" && end.isRestored)
            fixture.gate.open()
        }
    }

    @Test(.enabled(if: SecureShell.isUsable, "ssh to this machine is not possible"))
    func topEndsWhenTheSSHConnectionBreaks() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 80, lines: 24, in: scope)
            try await fixture.start(over: try await SecureShell(in: scope))
            try await waitUntil("top to watch") { try await fixture.daemon.metric("watchers") > 0 }
            // The ssh client disconnects at once, as if the network had failed.
            try await fixture.terminal.press("Enter", "~", ".")
            try await waitUntil("the watchers to be gone") {
                try await fixture.daemon.metric("watchers") == 0
            }
        }
    }

    @Test func suspendingRestoresTheTerminalAndResumingTakesItAgain() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 80, lines: 24, in: scope)
            try await fixture.start()
            try await fixture.fetch(quarters: 2, Self.arriving)
            try await fixture.terminal.waitForScreen("progress", where: Self.hasProgress)
            // The shell does not run the commands after a program that was stopped.
            try await fixture.terminal.press("C-z")
            try await fixture.terminal.waitFor("Stopped")
            #expect(try await fixture.terminal.isOrdinary())
            try await fixture.terminal.type("fg; stty -a")
            try await fixture.terminal.waitForScreen("progress", where: Self.hasProgress)
            #expect(try await !fixture.terminal.isOrdinary())
            try await fixture.terminal.press("q")
            try await fixture.terminal.waitFor(" icanon ")
            #expect(try await fixture.terminal.isOrdinary())
            fixture.gate.open()
        }
    }

    @Test func topContinuesAfterSIGSTOPAndSIGCONT() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 80, lines: 24, in: scope)
            try await fixture.start()
            try await fixture.fetch(quarters: 2, Self.arriving)
            try await fixture.terminal.waitForScreen("progress", where: Self.hasProgress)
            let pid = try await fixture.process()
            kill(pid, SIGSTOP)
            try await fixture.terminal.waitFor("Stopped")
            // The terminal still has the modes of top: to a simple shell Enter does not end a line.
            try await fixture.terminal.press("f", "g", "C-j")
            try await fixture.terminal.waitForScreen("the redrawn screen") { screen in
                screen[0].hasPrefix("[1 downloads]") && screen.last?.hasPrefix("q ") == true
                    && !screen.contains { $0.contains("Stopped") }
            }
            try await fixture.terminal.press("q")
            try await fixture.terminal.waitForScreen("the shell's screen") { screen in
                !screen.contains { $0.contains("[1 downloads]") }
            }
            #expect(try await fixture.terminal.isOrdinary())
            fixture.gate.open()
        }
    }

    @Test func keysPinRefreshAndRemoveImages() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 80, lines: 24, in: scope)
            try await fixture.queue(30)
            try await waitUntil("all to be cached") {
                try await fixture.daemon.metric("entries") == 30
            }
            try await fixture.start()
            try await fixture.terminal.press("Tab")
            try await fixture.terminal.waitFor("30 images")
            try await fixture.terminal.waitFor("2.0 kB")
            try await fixture.terminal.press("l")
            try await fixture.waitForRows("largest first")
            try await fixture.terminal.press("p")
            try await fixture.terminal.waitFor("1 pinned")
            #expect(try await fixture.daemon.metric("entriesPinned") == 1)
            try await fixture.terminal.press("r")
            try await fixture.terminal.waitFor("the image is up to date")
            try await fixture.terminal.press("u")
            try await fixture.waitForRows("least recently used first")
            try await fixture.terminal.press("End", "x")
            try await fixture.terminal.waitFor("? y/n")
            try await fixture.terminal.press("y")
            try await fixture.terminal.waitFor("29 images")
            #expect(try await fixture.daemon.metric("entries") == 29)
            try await fixture.terminal.press("q")
            #expect(try await fixture.end().isRestored)
        }
    }

    @Test func topGoesOnOverARestartOfTheDaemon() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 80, lines: 24, in: scope)
            try await fixture.queue(30)
            try await waitUntil("all to be cached") {
                try await fixture.daemon.metric("entries") == 30
            }
            try await fixture.start()
            try await fixture.terminal.press("Tab")
            try await fixture.terminal.waitFor("30 images")
            try await fixture.terminal.waitFor("2.0 kB")
            try await fixture.daemon.stop()
            try await fixture.terminal.waitFor("waiting for a daemon")
            // What was known stays in sight, and nothing is done in vain.
            try await fixture.terminal.press("p")
            try await fixture.terminal.waitFor("nothing was done")
            try await fixture.terminal.waitFor("30 images")
            let next = try await fixture.daemon.restart()
            try await fixture.terminal.waitForScreen("the end of the outage") { screen in
                screen.last?.hasPrefix("q ") == true
            }
            try await next.cachectl("remove", fixture.origin.url(Self.waiting(1000)))
            try await fixture.terminal.waitFor("29 images")
            try await fixture.terminal.press("q")
            let end = try await fixture.end()
            #expect(end.status == "0" && end.isRestored)
        }
    }

    private static func waiting(_ number: Int) -> String {
        "/gallery/holiday/of/2026/waiting-\(number).png"
    }

    @Test func aHungDaemonIsReportedAndSoIsItsReturn() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 80, lines: 24, in: scope)
            try await fixture.start()
            try await fixture.terminal.waitFor("nothing to do")
            fixture.daemon.process.signal(SIGSTOP)
            scope.atEnd { fixture.daemon.process.signal(SIGCONT) }
            try await fixture.terminal.waitFor("the daemon does not answer")
            fixture.daemon.process.signal(SIGCONT)
            try await fixture.terminal.waitForScreen("the keys") { screen in
                screen.last?.hasPrefix("q ") == true
            }
            try await fixture.terminal.press("q")
            #expect(try await fixture.end().isRestored)
        }
    }

    @Test func downloadsAreCancelledCopiedAndFiltered() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 80, lines: 24, in: scope)
            try await fixture.terminal.permitClipboard()
            try await fixture.start()
            try await fixture.fetch(quarters: 2, Self.arriving)
            try await fixture.terminal.waitFor("3 under way")
            try await fixture.terminal.press("/")
            try await fixture.terminal.send("elephants-2")
            try await fixture.terminal.press("Enter")
            try await fixture.terminal.waitForScreen("one row") { screen in
                screen[2..<23].count { $0.contains("elephants") } == 1
            }
            try await fixture.terminal.press("y")
            try await fixture.terminal.waitFor("copied ")
            let copied = try await fixture.terminal.clipboard()
            #expect(copied == fixture.origin.url(Self.arriving[1]))
            try await fixture.terminal.press("x")
            try await fixture.terminal.waitFor("? y/n")
            try await fixture.terminal.press("y")
            try await fixture.terminal.waitFor("2 under way")
            try await fixture.terminal.press("Escape")
            try await fixture.terminal.waitForScreen("the others") { screen in
                screen[2..<23].count { $0.contains("elephants") } == 2
            }
            try await fixture.terminal.press("q")
            #expect(try await fixture.end().isRestored)
            fixture.gate.open()
        }
    }

    @Test func theMouseSelectsAndOpensDetailsWithThePicture() async throws {
        try await withTestScope { scope in
            let fixture = try await TopFixture(columns: 100, lines: 24, in: scope)
            try await fixture.queue(5)
            try await waitUntil("all to be cached") {
                try await fixture.daemon.metric("entries") == 5
            }
            // In the place of chafa(1): a picture of characters.
            let tools = try TemporaryDirectory(in: scope)
            try Data("#!/bin/sh\nprintf '\\033[31mPICTURE\\033[0m\\nOF %s\\n' \"$3\"\n".utf8)
                .write(to: URL(filePath: tools.file("chafa")))
            chmod(tools.file("chafa"), 0o755)
            try await fixture.start(path: tools.path)
            try await fixture.terminal.send("\u{1B}[<0;16;1M")
            try await fixture.terminal.waitFor("[2 cached]")
            try await fixture.terminal.waitFor("2.0 kB")
            let screen = try await fixture.terminal.screen()
            let line = try #require(screen.firstIndex { $0.contains("2.0 kB") }) + 1
            let click = "\u{1B}[<0;40;\(line + 2)M"
            try await fixture.terminal.send(click + click)
            let details = try await fixture.terminal.waitForScreen("the details") { screen in
                ["PICTURE", "sha256"].allSatisfy { word in screen.contains { $0.contains(word) } }
            }
            let row = try #require(details.firstIndex { $0.contains("PICTURE") })
            let column = try #require(details[row].firstRange(of: "PICTURE")).lowerBound
            #expect(details[row].distance(from: details[row].startIndex, to: column) == 50)
            #expect(details[row + 1].contains("OF --size=50x"))
            try await fixture.terminal.press("Escape")
            try await fixture.terminal.waitForScreen("the rows") { screen in
                !screen.contains { $0.contains("PICTURE") || $0.contains("OF -") }
                    && screen.contains { $0.contains("2.0 kB") }
            }
            try await fixture.terminal.press("q")
            #expect(try await fixture.end().isRestored)
        }
    }

    /// The number of voluntary context switches of a process. proc(5).
    private func contextSwitches(of pid: Int32) throws -> Int {
        try ProcessUsage.status("voluntary_ctxt_switches", of: pid)
    }
}

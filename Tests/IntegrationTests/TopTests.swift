import Glibc
import TestSupport
import Testing

/// `cachectl top` in a real terminal, against the built daemon.
@Suite(
    "Top", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: Tmux.isInstalled, "tmux is not installed"))
struct TopTests {
    private static let arriving = (1...3).map { "/gallery/holiday/of/2026/elephants-\($0).png" }

    @Test func theScreensAreThoseStored() async throws {
        try await withTestScope { scope in
            let scene = try await TopScene(columns: 80, lines: 24, in: scope)
            try await scene.start()
            try await scene.terminal.waitFor("nothing to do")
            try await scene.daemon.cachectl(
                "fetch", scene.origin.url("/gallery/holiday/of/2026/missing.png"))
            try await scene.terminal.waitFor("1 failed")
            try await scene.terminal.waitFor("nothing to do")
            for (index, name) in Self.arriving.enumerated() {
                try await scene.fetch(quarters: index + 1, [name])
                try await scene.terminal.waitFor("0/\(index + 1)")
            }
            try await scene.gate.reached(count: 3)
            try await scene.queue(60)
            for (columns, lines) in [(80, 24), (200, 50), (40, 10), (80, 24)] {
                try await scene.terminal.resize(columns: columns, lines: lines)
                // Nothing comes any more, and that is seen.
                let screen = try await scene.terminal.waitForScreen("the screen at rest") {
                    screen in
                    screen.count == lines && screen.count { $0.contains(" 0 B/s") } == 3
                        && screen.count { $0.contains(" queued ") } == lines - 7
                        && screen[1].contains("0/63")
                        && screen[1].hasSuffix(columns == 40 ? "59.png" : "waiting-1059.png")
                }
                let isStored = try scene.isStored(screen, as: "top-\(columns)x\(lines)")
                #expect(isStored, "\(screen.joined(separator: "\n"))")
            }
            try await scene.terminal.press("q")
            let end = try await scene.end()
            #expect(end.status == "0" && end.isRestored)
            scene.gate.open()
        }
    }

    @Test func scrollingShowsAllRowsAndWatchesThoseOnTheScreen() async throws {
        try await withTestScope { scope in
            let scene = try await TopScene(columns: 80, lines: 24, in: scope)
            try await scene.start("--ascii")
            try await scene.fetch(quarters: 1, Self.arriving)
            try await scene.gate.reached(count: 3)
            try await scene.queue(297)
            try await scene.terminal.waitFor("300 under way")
            var seen: Set<Substring> = []
            var before: [Substring] = []
            // 21 rows at first, and with each page 20 more, the last of them by one less.
            for page in 0..<15 {
                let screen = try await scene.terminal.waitForScreen("page \(page)") { screen in
                    let known = screen.count {
                        $0.contains(" queued ") || $0.contains(" receiving ")
                    }
                    return known == 21 && screen[2..<23].map { $0.suffix(8) } != before
                }
                before = screen[2..<23].map { $0.suffix(8) }
                seen.formUnion(before)
                try await scene.terminal.press("PageDown")
            }
            #expect(seen.count == 300)
            // One call for the downloads there are, one for the rows on the screen.
            #expect(try await scene.daemon.figure("watchers") == 2)
            scene.gate.open()
            try await scene.terminal.waitFor("nothing to do")
            try await scene.terminal.press("q")
            let end = try await scene.end()
            #expect(end.status == "0" && end.isRestored)
        }
    }

    @Test func withNothingToDoItSleeps() async throws {
        try await withTestScope { scope in
            let scene = try await TopScene(columns: 80, lines: 24, in: scope)
            try await scene.start()
            try await scene.queue(20)
            try await waitUntil("all is here") { try await scene.daemon.figure("entries") == 20 }
            try await scene.terminal.waitFor("nothing to do")
            let pid = try await scene.process()
            // It is woken a last time or two; then never, while others ask the daemon as they like.
            try await waitUntil("top to sleep") {
                let before = try contextSwitches(of: pid)
                for _ in 0..<50 { try await scene.daemon.cachectl("stats") }
                return try contextSwitches(of: pid) == before
            }
            try await scene.terminal.press("q")
            #expect(try await scene.end().isRestored)
        }
    }

    @Test(arguments: ["q", "C-c", "TERM", "HUP", "daemon"])
    func whateverEndsItTheTerminalIsAsBefore(cause: String) async throws {
        try await withTestScope { scope in
            let scene = try await TopScene(columns: 80, lines: 24, in: scope)
            try await scene.start()
            try await scene.fetch(quarters: 2, Self.arriving)
            try await scene.terminal.waitFor("/400 kB")
            switch cause {
            case "TERM": kill(try await scene.process(), SIGTERM)
            case "HUP": kill(try await scene.process(), SIGHUP)
            case "daemon": try await scene.daemon.stop()
            default: try await scene.terminal.press(cause)
            }
            let end = try await scene.end()
            let status = ["q": 0, "C-c": 130, "TERM": 143, "HUP": 129, "daemon": 69][cause]
            #expect(end.status == "\(status ?? -1)")
            #expect(end.isRestored)
            scene.gate.open()
        }
    }

    @Test(.enabled(if: SecureShell.isUsable, "there is no ssh to log in by"))
    func overSecureShellItIsTheSame() async throws {
        try await withTestScope { scope in
            let scene = try await TopScene(columns: 80, lines: 24, in: scope)
            let shell = try await SecureShell(in: scope)
            try await scene.start(over: shell)
            try await scene.fetch(quarters: 2, Self.arriving)
            try await scene.terminal.waitFor("/400 kB")
            try await scene.terminal.resize(columns: 100, lines: 30)
            let screen = try await scene.terminal.waitForScreen("the new size") { screen in
                screen.count == 30 && screen[29].hasPrefix("q quit")
                    && screen.count { $0.contains("/400 kB") } == 3
            }
            // Rings and bars come through as they are, and names as long as there is room.
            #expect(screen.contains { $0.contains("━") })
            try await scene.terminal.press("Tab")
            try await scene.terminal.waitFor("newest first")
            try await scene.terminal.press("q")
            let end = try await scene.end()
            #expect(end.status == "0" && end.isRestored)
            scene.gate.open()
        }
    }

    @Test(.enabled(if: SecureShell.isUsable, "there is no ssh to log in by"))
    func whenTheConnectionBreaksItEnds() async throws {
        try await withTestScope { scope in
            let scene = try await TopScene(columns: 80, lines: 24, in: scope)
            try await scene.start(over: try await SecureShell(in: scope))
            try await waitUntil("it to watch") { try await scene.daemon.figure("watchers") > 0 }
            // The client goes at once, as for a network that is gone.
            try await scene.terminal.press("Enter", "~", ".")
            try await waitUntil("nobody to watch") {
                try await scene.daemon.figure("watchers") == 0
            }
        }
    }

    @Test func stoppedItGivesTheTerminalBackAndTakesItAgain() async throws {
        try await withTestScope { scope in
            let scene = try await TopScene(columns: 80, lines: 24, in: scope)
            try await scene.start()
            try await scene.fetch(quarters: 2, Self.arriving)
            try await scene.terminal.waitFor("/400 kB")
            // The shell does not run what comes behind a program that was stopped.
            try await scene.terminal.press("C-z")
            try await scene.terminal.waitFor("Stopped")
            #expect(try await scene.terminal.isOrdinary())
            try await scene.terminal.type("fg; stty -a")
            try await scene.terminal.waitFor("/400 kB")
            #expect(try await !scene.terminal.isOrdinary())
            try await scene.terminal.press("q")
            try await scene.terminal.waitFor(" icanon ")
            #expect(try await scene.terminal.isOrdinary())
            scene.gate.open()
        }
    }

    @Test func frozenAndThawedItGoesOn() async throws {
        try await withTestScope { scope in
            let scene = try await TopScene(columns: 80, lines: 24, in: scope)
            try await scene.start()
            try await scene.fetch(quarters: 2, Self.arriving)
            try await scene.terminal.waitFor("/400 kB")
            let pid = try await scene.process()
            kill(pid, SIGSTOP)
            try await scene.terminal.waitFor("Stopped")
            // The modes are still those of top: Enter is no end of a line to a simple shell.
            try await scene.terminal.press("f", "g", "C-j")
            try await scene.terminal.waitForScreen("the screen anew") { screen in
                screen[0].hasPrefix("[1 downloads]") && screen.last?.hasPrefix("q quit") == true
                    && !screen.contains { $0.contains("Stopped") }
            }
            try await scene.terminal.press("q")
            try await scene.terminal.waitForScreen("the shell's") { screen in
                !screen.contains { $0.contains("[1 downloads]") }
            }
            #expect(try await scene.terminal.isOrdinary())
            scene.gate.open()
        }
    }

    @Test func whatIsCachedIsPinnedAndRemovedByKey() async throws {
        try await withTestScope { scope in
            let scene = try await TopScene(columns: 80, lines: 24, in: scope)
            try await scene.queue(30)
            try await waitUntil("all is here") { try await scene.daemon.figure("entries") == 30 }
            try await scene.start()
            try await scene.terminal.press("Tab")
            try await scene.terminal.waitFor("30 images")
            try await scene.terminal.waitFor("2.0 kB")
            try await scene.terminal.press("l")
            try await scene.waitForRows("largest first")
            try await scene.terminal.press("p")
            try await scene.terminal.waitFor("1 pinned")
            #expect(try await scene.daemon.figure("entriesPinned") == 1)
            try await scene.terminal.press("r")
            try await scene.terminal.waitFor("the image is up to date")
            try await scene.terminal.press("u")
            try await scene.waitForRows("least recently used first")
            try await scene.terminal.press("End", "x")
            try await scene.terminal.waitFor("? y/n")
            try await scene.terminal.press("y")
            try await scene.terminal.waitFor("29 images")
            #expect(try await scene.daemon.figure("entries") == 29)
            try await scene.terminal.press("q")
            #expect(try await scene.end().isRestored)
        }
    }

    /// How often a process has gone to sleep. proc(5).
    private func contextSwitches(of pid: Int32) throws -> Int {
        let status = String(decoding: try contents(of: "/proc/\(pid)/status"), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
        guard let count = line?.split(whereSeparator: \.isWhitespace).last.flatMap({ Int($0) })
        else {
            throw TestFailure("top does not run")
        }
        return count
    }
}

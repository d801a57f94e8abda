import TestSupport

/// Races for one place, the winner of each killed before the next: so each finds what a crash leaves.
struct StartRaces {
    private static let starters = 8

    private let prize: OneDaemonTests.Prize
    private let home: TemporaryDirectory
    private var races = 0
    /// The longest a loser took, from before the first was started.
    private var slowest = Duration.zero
    /// The longest the next daemon took to serve after a kill.
    private var slowestHeir = Duration.zero

    init(for prize: OneDaemonTests.Prize, in scope: TestScope) throws {
        self.prize = prize
        home = try TemporaryDirectory(in: scope)
    }

    var figures: [String] {
        [
            "\(races) races, 1 winner each, \(races * (Self.starters - 1)) losers exited 75 and named it",
            "the slowest after \(slowest)",
            "after a kill the next one served within \(slowestHeir)",
        ]
    }

    mutating func run() async throws {
        try await withTestScope { scope in
            let watch = Stopwatch()
            let starters = try (0..<Self.starters).map { try self.start($0, in: scope) }
            let winner = try await winner(of: starters)
            var took = Duration.zero
            for loser in starters where loser.pid != winner.pid {
                try await expectLoss(of: loser, against: winner)
                took = max(took, watch.time(until: loser.endedAt!))
            }
            slowest = max(slowest, took)
            if took > .seconds(1) { try await expectLoadToExplain(took, in: scope) }
            try await winner.kill()
            try await expectAnHeir(in: scope)
            races += 1
        }
    }

    /// It names who holds what it wanted.
    private func expectLoss(of loser: ChildProcess, against winner: ChildProcess) async throws {
        let status = try await loser.waitForExit()
        let message = loser.text(.standardError)
        guard status == .exited(75), message.contains("process \(winner.pid);") else {
            throw TestFailure(
                "process \(winner.pid) has won; a loser ended with \(status) and said: \(message)")
        }
    }

    /// A machine with other things to do takes its time for as many starts that end for another reason,
    /// too: a loser has a second more than that.
    private func expectLoadToExplain(_ took: Duration, in scope: TestScope) async throws {
        let watch = Stopwatch()
        let others = try (0..<Self.starters).map { _ in
            try ChildProcess(
                BuiltProducts.program("cached"), ["--log-level", "none of them"], in: scope)
        }
        for other in others { _ = try await other.waitForExit() }
        let usual = others.map { watch.time(until: $0.endedAt!) }.max()!
        guard isSanitized || took < .seconds(1) + usual * 2 else {
            throw TestFailure("a loser took \(took), a start that does nothing \(usual)")
        }
    }

    /// Neither the lock nor the socket of a daemon that was killed is in the way of the next.
    private mutating func expectAnHeir(in scope: TestScope) async throws {
        let watch = Stopwatch()
        let heir = try self.start(0, in: scope)
        try await heir.waitForLine(containing: "listening")
        slowestHeir = max(slowestHeir, watch.time)
        // The next race finds what a crash leaves.
        try await heir.kill()
    }

    /// The paths of a starter: its own, or those all want.
    private func paths(of number: Int) -> (directory: String, socket: String) {
        (
            home.file(prize == .socket ? "cache\(number)" : "cache"),
            home.file(prize == .directory ? "s\(number)" : "s")
        )
    }

    private func start(_ number: Int, in scope: TestScope) throws -> ChildProcess {
        let (directory, socket) = paths(of: number)
        return try ChildProcess(
            BuiltProducts.program("cached"), ["--directory", directory, "--socket", socket],
            environment: minimalEnvironment(["MEMORY_PRESSURE_WATCH": "/dev/null"]), in: scope)
    }

    /// The one that listens.
    private func winner(of starters: [ChildProcess]) async throws -> ChildProcess {
        try await eventually("a winner") {
            starters.first { $0.text(.standardError).contains("listening") }
        }
    }
}

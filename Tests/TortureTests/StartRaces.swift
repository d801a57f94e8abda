import TestSupport

/// Races of several daemons for one resource. The winner is killed before the next race, so that each race
/// finds what a crash leaves.
struct StartRaces {
    private static let contenders = 8

    private let contested: OneDaemonTests.Contested
    private let home: TemporaryDirectory
    private var races = 0
    /// The longest time a loser took, measured from before the first start.
    private var slowest = Duration.zero
    /// The longest time the next daemon took to serve after a kill.
    private var slowestSuccessor = Duration.zero

    init(for contested: OneDaemonTests.Contested, in scope: TestScope) throws {
        self.contested = contested
        home = try TemporaryDirectory(in: scope)
    }

    var figures: [String] {
        [
            "\(races) races, 1 winner each, \(races * (Self.contenders - 1)) losers exited 75, naming it",
            "the slowest after \(slowest)",
            "after a kill the next one served within \(slowestSuccessor)",
        ]
    }

    mutating func run() async throws {
        try await withTestScope { scope in
            let watch = Stopwatch()
            let contenders = try (0..<Self.contenders).map { try self.start($0, in: scope) }
            let winner = try await winner(of: contenders)
            var took = Duration.zero
            for loser in contenders where loser.pid != winner.pid {
                try await expectLoss(of: loser, against: winner)
                took = max(took, watch.time(until: loser.endedAt!))
            }
            slowest = max(slowest, took)
            if took > .seconds(1) { try await expectLoadToExplain(took, in: scope) }
            try await winner.kill()
            try await expectASuccessor(in: scope)
            races += 1
        }
    }

    /// The loser names the process that holds the resource.
    private func expectLoss(of loser: ChildProcess, against winner: ChildProcess) async throws {
        let status = try await loser.waitForExit()
        let message = loser.text(.standardError)
        guard status == .exited(75), message.contains("process \(winner.pid);") else {
            throw TestFailure(
                "process \(winner.pid) won; a loser ended with \(status) and printed: \(message)")
        }
    }

    /// On a busy machine even starts that end for another reason take long. A loser is allowed three seconds
    /// more than twice their time, because the load changes from one to the other. A loser that waits for the winner
    /// never ends.
    private func expectLoadToExplain(_ took: Duration, in scope: TestScope) async throws {
        let watch = Stopwatch()
        let others = try (0..<Self.contenders).map { _ in
            try ChildProcess(
                BuiltProducts.program("cached"), ["--log-level", "none of them"], in: scope)
        }
        for other in others { _ = try await other.waitForExit() }
        let usual = others.map { watch.time(until: $0.endedAt!) }.max()!
        guard isSanitized || took < .seconds(3) + usual * 2 else {
            throw TestFailure("a loser took \(took), a start that does nothing \(usual)")
        }
    }

    /// Neither the lock nor the socket of a killed daemon prevents the next one from starting.
    private mutating func expectASuccessor(in scope: TestScope) async throws {
        let watch = Stopwatch()
        let successor = try self.start(0, in: scope)
        try await successor.waitForLine(containing: "listening")
        slowestSuccessor = max(slowestSuccessor, watch.time)
        // The next race finds what a crash leaves.
        try await successor.kill()
    }

    /// The paths of a contender: its own, or the contested ones.
    private func paths(of number: Int) -> (directory: String, socket: String) {
        (
            home.file(contested == .socket ? "cache\(number)" : "cache"),
            home.file(contested == .directory ? "s\(number)" : "s")
        )
    }

    private func start(_ number: Int, in scope: TestScope) throws -> ChildProcess {
        let (directory, socket) = paths(of: number)
        return try ChildProcess(
            BuiltProducts.program("cached"), ["--directory", directory, "--socket", socket],
            environment: minimalEnvironment(["MEMORY_PRESSURE_WATCH": "/dev/null"]), in: scope)
    }

    /// The daemon that listens.
    private func winner(of contenders: [ChildProcess]) async throws -> ChildProcess {
        try await eventually("a winner") {
            contenders.first { $0.text(.standardError).contains("listening") }
        }
    }
}

import TestSupport
import Testing

/// Promise: a directory and a socket belong to one daemon, however many start at once.
@Suite("One daemon", .serialized, .timeLimit(.minutes(isLongForm ? 60 : 10)))
struct OneDaemonTests {
    /// The resources that eight daemons, started together, compete for.
    enum Contested: CaseIterable, Sendable {
        case directory, directoryAndSocket, socket
    }

    @Test(arguments: Contested.allCases)
    func exactlyOneOfEightStartsWins(_ contested: Contested) async throws {
        try await Promise("one daemon: 8 starts, one gets the \(contested)").test { figures in
            try await withTestScope { scope in
                var races = try StartRaces(for: contested, in: scope)
                for race in 1...rounds(short: 3, long: 100) {
                    do { try await races.run() } catch {
                        throw TestFailure("race \(race): \(error)")
                    }
                }
                figures = races.figures
            }
        }
    }
}

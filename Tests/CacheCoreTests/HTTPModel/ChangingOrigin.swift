import Synchronization
import TestSupport

/// An origin whose pages change.
final class ChangingOrigin: Sendable {
    let server: ScriptedOrigin
    private let pages: Mutex<[ChangingPage]>
    /// The gates that hold the responses of a page back.
    private let gates = Mutex<[Int: Gate]>([:])

    /// Creates an origin with one page for each kind of validator.
    init(in scope: TestScope) throws {
        server = try ScriptedOrigin(in: scope)
        pages = Mutex(
            ChangingPage.Validator.allCases.enumerated().map { ChangingPage(number: $0, $1) })
        for number in all.indices {
            server.route(all[number].path) { [self] request in
                let answer = all[number].answer(request)
                let gate = gates.withLock { $0[number] }
                return OriginScript((gate.map { [.wait($0)] } ?? []) + answer.steps)
            }
        }
    }

    var all: [ChangingPage] { pages.withLock { $0 } }

    func change(_ page: ChangingPage) {
        pages.withLock { $0[page.number] = page }
    }

    /// The number of requests for a page so far.
    func requests(_ page: ChangingPage) -> Int { server.requests(page.path).count }

    /// Holds the responses of a page back while `body` runs.
    func holding<Result>(
        _ page: ChangingPage, _ body: (Gate) async throws -> Result
    ) async throws -> Result {
        let gate = try Gate()
        gates.withLock { $0[page.number] = gate }
        defer {
            gates.withLock { $0[page.number] = nil }
            gate.open()
        }
        return try await body(gate)
    }
}

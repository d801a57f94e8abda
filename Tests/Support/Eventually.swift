/// Polls until `ask` returns a value. For states that no event announces.
///
/// Each poll should be a round trip to the process that has the state, so that the waiting time is
/// spent there.
///
/// - Throws: `TestFailure` that names `what` after `limit`.
public func eventually<Answer>(
    _ what: String, within limit: Duration = .patience, ask: () async throws -> Answer?
) async throws -> Answer {
    let deadline = ContinuousClock.now + limit
    while true {
        if let answer = try await ask() { return answer }
        guard ContinuousClock.now < deadline else {
            throw TestFailure.timedOut(what, after: limit)
        }
        await Task.yield()
    }
}

/// Waits until a condition holds; see ``eventually(_:within:ask:)``.
public func waitUntil(
    _ what: String, within limit: Duration = .patience, holds: () async throws -> Bool
) async throws {
    try await eventually(what, within: limit) { try await holds() ? () : nil }
}

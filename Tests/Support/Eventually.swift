/// Polls until `ask` returns a value. For states that no event announces.
///
/// The pauses between the polls grow to 20 ms, so that the process that has the state gets the processor.
///
/// - Throws: `TestFailure` that names `what` after `limit`.
public func eventually<Answer>(
    _ what: String, within limit: Duration = .patience, ask: () async throws -> Answer?
) async throws -> Answer {
    let deadline = ContinuousClock.now + limit
    var pause = Duration.microseconds(500)
    while true {
        if let answer = try await ask() { return answer }
        guard ContinuousClock.now < deadline else {
            throw TestFailure.timedOut(what, after: limit)
        }
        try await Task.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(20))
    }
}

/// Waits until a condition holds; see ``eventually(_:within:ask:)``.
public func waitUntil(
    _ what: String, within limit: Duration = .patience, holds: () async throws -> Bool
) async throws {
    try await eventually(what, within: limit) { try await holds() ? () : nil }
}

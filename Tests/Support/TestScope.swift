import Synchronization

/// The resources of one test. They are released in reverse order when the test's body has ended, however
/// it ended.
///
/// Every fixture takes the scope it belongs to, so a test needs only one level of nesting:
///
///     try await withTestScope { scope in
///         let origin = try ScriptedOrigin(in: scope)
///         let daemon = try await DaemonFixture.start(in: scope)
///     }
public final class TestScope: Sendable {
    public typealias Cleanup = @Sendable () async throws -> Void

    private let cleanups = Mutex<[Cleanup]>([])

    fileprivate init() {}

    /// Registers a cleanup; the last one registered runs first.
    public func atEnd(_ cleanup: @escaping Cleanup) {
        cleanups.withLock { $0.append(cleanup) }
    }

    /// Runs every cleanup, even if one throws, and returns the first error.
    fileprivate func end() async -> (any Error)? {
        var first: (any Error)?
        while let cleanup = cleanups.withLock({ $0.popLast() }) {
            do { try await cleanup() } catch { first = first ?? error }
        }
        return first
    }
}

/// Runs a test's body with a scope, then releases everything that the body registered in it.
///
/// - Throws: the body's error, or else the first error of a cleanup (for example of a daemon that
///   crashed).
public func withTestScope<Result: Sendable>(
    _ body: (TestScope) async throws -> Result
) async throws -> Result {
    await AsyncSemaphore.runningTests.wait()
    defer { AsyncSemaphore.runningTests.signal() }
    let scope = TestScope()
    let outcome: Swift.Result<Result, any Error>
    do { outcome = .success(try await body(scope)) } catch { outcome = .failure(error) }
    // In a separate task: cancelling the test, as a time limit does, must not interrupt the cleanup.
    let problem = await Task { await scope.end() }.value
    let result = try outcome.get()
    if let problem { throw problem }
    return result
}

import Synchronization

/// What one test has started: ended in reverse order when the test's body is over, however it
/// ended.
///
/// Every fixture takes the scope it belongs to, so a test needs one level of nesting only:
///
///     try await withTestScope { scope in
///         let origin = try ScriptedOrigin(in: scope)
///         let daemon = try await DaemonFixture.start(in: scope)
///     }
public final class TestScope: Sendable {
    public typealias Cleanup = @Sendable () async throws -> Void

    private let cleanups = Mutex<[Cleanup]>([])

    fileprivate init() {}

    /// Registers what undoes something just done; the last registered runs first.
    public func atEnd(_ cleanup: @escaping Cleanup) {
        cleanups.withLock { $0.append(cleanup) }
    }

    /// Runs every cleanup, even after one has thrown, and returns the first error.
    fileprivate func end() async -> (any Error)? {
        var first: (any Error)?
        while let cleanup = cleanups.withLock({ $0.popLast() }) {
            do { try await cleanup() } catch { first = first ?? error }
        }
        return first
    }
}

/// Runs a test's body with a scope, then ends everything the body has started in it.
///
/// - Throws: the body's error, else the first error of a cleanup (a daemon that crashed, say).
public func withTestScope<Result: Sendable>(
    _ body: (TestScope) async throws -> Result
) async throws -> Result {
    await AsyncSemaphore.runningTests.wait()
    defer { AsyncSemaphore.runningTests.signal() }
    let scope = TestScope()
    let outcome: Swift.Result<Result, any Error>
    do { outcome = .success(try await body(scope)) } catch { outcome = .failure(error) }
    // In a task of its own: cancelling the test, as a time limit does, must not cut the cleanup
    // short.
    let problem = await Task { await scope.end() }.value
    let result = try outcome.get()
    if let problem { throw problem }
    return result
}

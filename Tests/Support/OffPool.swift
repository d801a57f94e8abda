import Foundation

/// Runs blocking work on a thread of its own, so that it holds none of the few that run tasks.
public func offPool<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(with: Swift.Result(catching: body))
        }
    }
}

import Foundation

/// Runs blocking work on a dedicated thread, so that it blocks no thread of the task pool.
public func offPool<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(with: Swift.Result(catching: body))
        }
    }
}

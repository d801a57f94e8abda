import Foundation
import Glibc

/// Measures a cache directory repeatedly on a dedicated thread, hundreds of times a second, and keeps the
/// maximum.
///
///     let sampler = UsageSampler(of: daemon.directory, in: scope)
///     …
///     let report = try await sampler.end()
///     #expect(report.peak <= budget)
public final class UsageSampler: Sendable {
    /// The result of sampling.
    public struct Report: Sendable {
        /// The maximum of bytes used at one moment.
        public fileprivate(set) var peak = 0
        /// The number of samples.
        public fileprivate(set) var samples = 0
    }

    private struct State: Sendable {
        var report = Report()
        var isEnding = false
        var hasEnded = false
    }

    private let state = Monitor(State())

    /// Starts sampling, which ends with the scope at the latest.
    public init(of directory: String, in scope: TestScope) {
        Thread.detachNewThread { [state] in
            while !state.value.isEnding {
                // A failed sample is skipped; the next one may succeed, even if the directory is missing now.
                guard let usage = try? DirectoryUsage(momentOf: directory) else { continue }
                state.change { state in
                    state.report.peak = max(state.report.peak, usage.bytes)
                    state.report.samples += 1
                }
                poll(nil, 0, 1)
            }
            state.change { $0.hasEnded = true }
        }
        scope.atEnd { [self] in _ = try await end() }
    }

    /// Stops sampling and returns the result.
    public func end() async throws -> Report {
        state.change { $0.isEnding = true }
        return try await state.wait(for: "the last sample", within: .patience) { state in
            state.hasEnded ? state.report : nil
        }
    }
}

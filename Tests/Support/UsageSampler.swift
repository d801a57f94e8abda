import Foundation
import Glibc

/// Measures a cache directory again and again on a thread of its own, some hundred times a second,
/// and keeps the most it has seen.
///
///     let sampler = UsageSampler(of: daemon.directory, in: scope)
///     …
///     let report = try await sampler.end()
///     #expect(report.peak <= budget)
public final class UsageSampler: Sendable {
    /// What was seen.
    public struct Report: Sendable {
        /// The most bytes held at one moment.
        public fileprivate(set) var peak = 0
        /// Moments looked at.
        public fileprivate(set) var samples = 0
    }

    private struct State: Sendable {
        var report = Report()
        var isEnding = false
        var hasEnded = false
    }

    private let state = Monitor(State())

    /// Begins to measure; ends with the scope at the latest.
    public init(of directory: String, in scope: TestScope) {
        Thread.detachNewThread { [state] in
            while !state.value.isEnding {
                // A directory that can't be read is no moment either. After one that was none the next may be.
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

    /// Ends measuring, and says what was seen.
    public func end() async throws -> Report {
        state.change { $0.isEnding = true }
        return try await state.wait(for: "the last sample", within: .patience) { state in
            state.hasEnded ? state.report : nil
        }
    }
}

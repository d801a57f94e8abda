import CacheFetching
internal import CacheKey
import CacheValues
internal import Logging
internal import Synchronization

/// Logs downloads that failed, each with its reason. A host that fails a lot gets only a few lines a minute.
final class FailureLog: Sendable {
    private let logger: Logger
    private let limiter = Mutex(FailureLogLimiter())

    init(_ logger: Logger) {
        self.logger = logger
    }

    func take(_ events: [HistoryEvent]) {
        for event in events {
            guard let failure = event.failure, let url = event.source else { continue }
            let host = String(url.origin)
            guard limiter.withLock({ $0.admits(host, now: .now) }) else { continue }
            var fields: Logger.Metadata = [
                "url": "\(url.string)", "kind": "\(failure.kind.rawValue)",
                "reason": "\(failure.message)",
            ]
            if let time = failure.retryAt { fields["retry-at"] = "\(time.rawValue)" }
            logger.info("download failed", metadata: fields)
        }
    }

    /// Logs how many lines were left out of each host whose minute is over, or of all.
    func summarize(_ all: Bool = false) {
        for (host, count) in limiter.withLock({ $0.takeLeftOut(now: all ? nil : .now) }) {
            logger.info(
                "more downloads failed", metadata: ["host": "\(host)", "downloads": "\(count)"])
        }
    }
}

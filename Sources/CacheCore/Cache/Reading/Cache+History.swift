package import CacheFetching
import CacheValues

/// What happened to images lately.
extension Cache {
    /// The events that fit a query, the newest last.
    package func events(_ query: HistoryQuery) -> [HistoryEvent] { history.events(query) }

    /// The samples of the figures of the last 24 hours, the newest last.
    package func samples() -> [HistorySample] { history.samples() }

    /// Adds the figures of now to the history.
    func sampleFigures() {
        let now = statistics()
        history.add(
            HistorySample(
                at: .now,
                figures: [
                    Int(now.bytesUsed), now.entries, Int(now.bytesReceived), now.hits, now.misses,
                    now.published, now.failed, now.evicted.entries, Int(now.evicted.bytes),
                ]))
    }
}

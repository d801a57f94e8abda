package import CacheKey
package import CacheValues

/// The decisions of an event. Events append to the effects, and the owner of the state carries them out.
package struct Effects: Sendable {
    package var work: [Work] = []
    package var notices: [Notice] = []
    /// What happened to images.
    package var events: [HistoryEvent] = []

    package init() {}

    /// A download ended without an image. A failure that a caller brought about is not worth a line in the log.
    ///
    /// - Parameters:
    ///   - name: the URL that names the image.
    ///   - source: the URL that was asked.
    package mutating func failed(
        _ key: CacheKey, _ name: CacheURL, from source: CacheURL, _ failure: Failure
    ) {
        guard failure.kind != .removed, failure.kind != .shuttingDown else { return }
        var event = HistoryEvent(.failed, key, name.string, failure: failure)
        event.source = source
        events.append(event)
    }

    package var isEmpty: Bool { work.isEmpty && notices.isEmpty && events.isEmpty }
}

package import CacheKey
package import CacheValues

/// The decisions of an event. Events append to the effects, and the owner of the state carries them out.
package struct Effects: Sendable {
    package var work: [Work] = []
    package var notices: [Notice] = []
    /// The downloads that failed.
    package private(set) var failures: [FailedDownload] = []

    package init() {}

    /// A download ended without an image. A failure that a caller brought about is not worth a line in the log.
    package mutating func failed(_ url: CacheURL, _ failure: Failure) {
        guard failure.kind != .removed, failure.kind != .shuttingDown else { return }
        failures.append(FailedDownload(url: url, failure: failure))
    }

    package var isEmpty: Bool { work.isEmpty && notices.isEmpty }
}

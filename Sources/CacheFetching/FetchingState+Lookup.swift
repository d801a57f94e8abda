import CacheDisk
package import CacheKey
import CacheValues

/// Lookups: what is known of an image, answered from memory.
extension FetchingState {
    /// The state of a key, or `nil` if its name has to be probed first. A lookup is not counted as a use.
    package func lookup(_ key: CacheKey, isAnnounced: Bool = false) -> Lookup? {
        // A file that is being published may not survive a power cut yet, so the download answers for it.
        if disk.needsProbe(key), !downloads.isPublishing(key) { return nil }
        return known(key, isAnnounced: isAnnounced)
    }

    /// The state of a key as a view shows it. `nil` if its name has to be probed first.
    package mutating func lookup(_ key: CacheKey, _ view: LookupView) -> Lookup? {
        if view == .taken { changes.take(key) }
        return lookup(key, isAnnounced: view != .newest)
    }

    /// Answers many lookups. Appends to `unknown` the positions of the keys that have to be probed first.
    package mutating func lookup(
        _ keys: ArraySlice<CacheKey>, _ view: LookupView, _ answers: inout [Lookup],
        unknown: inout [Int]
    ) {
        for key in keys {
            let answer = lookup(key, view)
            if answer == nil { unknown.append(answers.count) }
            answers.append(answer ?? .missing(nil))
        }
    }

    /// The state of a key whose name need not be probed.
    package func known(_ key: CacheKey, isAnnounced: Bool = false) -> Lookup {
        let progress = downloads[key].map { currentProgress(of: $0, isAnnounced) }
        if let facts = disk.facts(of: key) {
            return .cached(
                facts, failure: progress?.failure ?? failures[key],
                refresh: progress.map { Refresh($0) })
        }
        return progress.map { .inFlight($0) } ?? .missing(failures[key])
    }

    /// The progress of a download. While its host is paused, that is the reason why it waits.
    private func currentProgress(of flight: Flight, _ isAnnounced: Bool) -> Progress {
        if flight.awaitsOriginal, let original = downloads[CacheKey(flight.name.source)] {
            var progress = currentProgress(of: original, isAnnounced)
            progress.isPinned = flight.isPinned
            return progress
        }
        var progress = flight.progress(isAnnounced: isAnnounced)
        if flight.phase == .queued, let refusal = scheduler.refusal(of: flight.origin) {
            progress.failure = refusal
        } else if flight.phase == .queued, !scheduler.permitsPrefetches,
            urgency(of: flight) == .background
        {
            progress.failure = .prefetchOff
        }
        return progress
    }
}

extension Failure {
    fileprivate static let prefetchOff = Failure(
        .prefetchOff,
        "prefetching is off (CACHED_PREFETCH); a fetch with another priority starts it")
}

package import CacheValues

/// Counts of events since the cache started.
package struct Counters: Sendable {
    /// Requests for images that were cached.
    package var hits = 0
    /// Requests for images that were not cached, or that the origin had to confirm first.
    package var misses = 0
    /// Misses that joined a running or queued download.
    package var joined = 0
    /// Images published.
    package private(set) var published = 0
    /// Entries the origin confirmed.
    package var revalidated = 0
    /// Images that were derived from others.
    package var derived = 0
    /// Requests answered with a stale entry because the origin failed.
    package var staleAnswers = 0
    /// Downloads that ended with a failure, by its kind.
    package private(set) var failures: [Failure.Kind: Int] = [:]
    /// Attempts that failed and were followed by a retry.
    package var retried = 0
    /// Requests answered with a remembered failure.
    package var failuresRepeated = 0
    /// Entries removed because the origin no longer has them, or because they must not be stored.
    package var withdrawn = Removal()
    /// Bytes of images received.
    package var bytesReceived: Int64 = 0
    /// Entries removed because a user requested it.
    package var removed = 0
    /// Entries that a verification found damaged.
    package var damaged = 0
    /// Entries evicted.
    package var evicted = Removal()
    /// Entries whose pages were dropped from memory.
    package var dropped = Removal()
    /// Downloads refused because there was no space.
    package var refused = 0
    /// The seconds from the request to the beginning of the response, of images downloaded whole.
    package private(set) var firstByteTimes = Distribution.times
    /// The seconds from the request to the last byte, of images downloaded whole.
    package private(set) var downloadTimes = Distribution.times
    /// The seconds from the last byte to the durable entry.
    package private(set) var publishTimes = Distribution.times
    /// The bytes of images downloaded whole.
    package private(set) var imageSizes = Distribution.sizes

    /// Downloads that ended with a failure.
    package var failed: Int { failures.values.reduce(0, +) }

    /// A download ended with a failure.
    package mutating func failed(_ kind: Failure.Kind) { failures[kind, default: 0] += 1 }

    /// A whole image arrived.
    ///
    /// - Parameters:
    ///   - firstByte: the time from the request to the beginning of the response.
    ///   - whole: the time from the request to the last byte.
    package mutating func downloaded(bytes: Int64, firstByte: Duration, whole: Duration) {
        firstByteTimes.add(firstByte)
        downloadTimes.add(whole)
        imageSizes.add(Double(bytes))
    }

    /// An image became an entry.
    ///
    /// - Parameter time: the time since its last byte arrived, if it is known.
    package mutating func published(after time: Duration?) {
        published += 1
        if let time { publishTimes.add(time) }
    }
}

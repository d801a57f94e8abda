package import CacheKey
package import CacheValues

/// The failures of recent attempts, so that a later lookup can report them.
///
/// Until its `retryAt` a failure is also the answer to callers that request the image from the same
/// source: another URL of the image can be the one that works. Both the
/// number of failures and their bytes are bounded. When a bound is reached, the older half is
/// forgotten at once. The memory is allocated once and kept, because every request can bring a new
/// failure.
package struct NegativeCache {
    /// The maximum number of failures. At least half of this number are remembered, unless their
    /// texts are long.
    package static let capacity = 16_384

    private var younger = Generation()
    private var older = Generation()

    package subscript(key: CacheKey) -> Failure? {
        younger.failure(of: key) ?? older.failure(of: key)
    }

    /// The URL that failed, if it was recorded with the failure.
    package func url(of key: CacheKey) -> CacheURL? { younger.url(of: key) ?? older.url(of: key) }

    /// The kind of the failure. Cheaper than the whole failure, because it creates no text.
    package func kind(of key: CacheKey) -> Failure.Kind? { summary(of: key)?.kind }

    /// The failure with which the cache answers instead of asking this source again.
    ///
    /// If the failure would be the answer for more than `longest`, it is ignored: the clock was
    /// ahead when it was recorded.
    package func answer(
        for key: CacheKey, from source: CacheURL, now: UnixTime, longest: Duration
    ) -> Failure? {
        guard let summary = summary(of: key), let end = summary.retryAt, now < end,
            end - now <= longest.components.seconds, summary.source == CacheKey(source).high
        else { return nil }
        return self[key]
    }

    /// - Parameters:
    ///   - url: the URL that names the image.
    ///   - source: the URL that was asked, if that is another one.
    package mutating func record(
        _ failure: Failure, of key: CacheKey, _ url: CacheURL? = nil, from source: CacheURL? = nil
    ) {
        let source = source.map { CacheKey($0) } ?? key
        older.forget(key)
        guard !younger.record(failure, of: key, url, source) else { return }
        younger.forget(key)
        swap(&younger, &older)
        younger.forgetAll()
        _ = younger.record(failure, of: key, url, source)
    }

    /// Forgets all failures of one kind. Returns their keys.
    package mutating func forgetAll(_ kind: Failure.Kind) -> [CacheKey] {
        let keys = younger.keys(of: kind) + older.keys(of: kind)
        for key in keys { forget(key) }
        return keys
    }

    /// Forgets a failure. Returns whether there was one.
    @discardableResult
    package mutating func forget(_ key: CacheKey) -> Bool {
        younger.forget(key) || older.forget(key)
    }

    private func summary(of key: CacheKey) -> Generation.Summary? {
        younger.summaries[key] ?? older.summaries[key]
    }
}

/// Failures that are forgotten together. Their texts are stored one after the other.
private struct Generation {
    package struct Summary {
        let kind: Failure.Kind
        let httpStatus: UInt16?
        let isStandIn: Bool
        let retryAt: UnixTime?
        /// A part of the digest of the URL that was asked.
        let source: UInt64
        /// The start of the message in ``Generation/texts``. The URL follows the message, if there
        /// is one.
        let start: UInt32
        let messageLength: UInt16
        let urlLength: UInt16
    }

    private static let capacity = NegativeCache.capacity / 2
    /// The maximum number of bytes in the texts of one generation.
    private static let textCapacity = 2 << 20

    package private(set) var summaries: [CacheKey: Summary] = [:]
    private var texts: [UInt8] = []

    /// Records a failure. Returns `false` if there is no room for it.
    package mutating func record(
        _ failure: Failure, of key: CacheKey, _ url: CacheURL?, _ source: CacheKey
    ) -> Bool {
        let (message, address) = (failure.message.utf8, url?.string.utf8)
        let length = message.count + (address?.count ?? 0)
        let former = summaries[key]
        let start = former.flatMap { holds(message, address, $0) ? Int($0.start) : nil }
        guard start != nil || texts.count + length <= Self.textCapacity,
            former != nil || summaries.count < Self.capacity
        else { return false }
        summaries[key] = Summary(
            kind: failure.kind, httpStatus: failure.httpStatus.map(UInt16.init(clamping:)),
            isStandIn: failure.isStandIn,
            retryAt: failure.retryAt, source: source.high, start: UInt32(start ?? texts.count),
            messageLength: UInt16(message.count), urlLength: UInt16(address?.count ?? 0))
        guard start == nil else { return true }
        texts.append(contentsOf: message)
        if let address { texts.append(contentsOf: address) }
        return true
    }

    /// Whether these texts are already stored: most failures recur with the same text.
    private func holds(
        _ message: String.UTF8View, _ address: String.UTF8View?, _ summary: Summary
    ) -> Bool {
        let lengths = (Int(summary.messageLength), Int(summary.urlLength))
        guard lengths == (message.count, address?.count ?? 0) else { return false }
        let texts = texts[Int(summary.start)...]
        return texts.starts(with: message)
            && texts.dropFirst(lengths.0).starts(with: address ?? "".utf8)
    }

    package func failure(of key: CacheKey) -> Failure? {
        summaries[key].map { summary in
            let failure = Failure(
                summary.kind, text(summary.start, summary.messageLength),
                httpStatus: summary.httpStatus.map(Int.init), retryAt: summary.retryAt)
            return summary.isStandIn ? failure.markedAsStandIn : failure
        }
    }

    package func url(of key: CacheKey) -> CacheURL? {
        guard let summary = summaries[key], summary.urlLength > 0 else { return nil }
        return try? CacheURL(text(summary.start + UInt32(summary.messageLength), summary.urlLength))
    }

    package func keys(of kind: Failure.Kind) -> [CacheKey] {
        summaries.filter { $0.value.kind == kind }.map(\.key)
    }

    @discardableResult
    package mutating func forget(_ key: CacheKey) -> Bool {
        summaries.removeValue(forKey: key) != nil
    }

    package mutating func forgetAll() {
        summaries.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
    }

    private func text(_ start: UInt32, _ length: UInt16) -> String {
        String(decoding: texts[Int(start)..<Int(start) + Int(length)], as: UTF8.self)
    }
}

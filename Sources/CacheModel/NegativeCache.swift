package import CacheKey

/// Why the latest attempts failed, so that a question after them can say so. Until its `retryAt` a
/// failure is also the answer to those who want the image. Bounded, in number and in bytes: the oldest
/// are forgotten first, half of them at once. What they take is taken once and kept, for there may be
/// a new one with every question.
package struct NegativeCache {
    /// Half of this many are known at least, unless their texts are long.
    package static let capacity = 16_384

    private var younger = Generation()
    private var older = Generation()

    package subscript(key: CacheKey) -> Failure? {
        younger.failure(of: key) ?? older.failure(of: key)
    }

    /// What could not be had, where a URL was asked for.
    package func url(of key: CacheKey) -> CacheURL? { younger.url(of: key) ?? older.url(of: key) }

    /// Without making its text.
    package func kind(of key: CacheKey) -> Failure.Kind? { notes(of: key)?.kind }

    /// The failure that is the answer without a new attempt. One that would be for longer than `longest` was
    /// remembered by a clock that was ahead.
    package func answer(for key: CacheKey, now: UnixTime, longest: Duration) -> Failure? {
        guard let end = notes(of: key)?.retryAt, now < end, end - now <= longest.components.seconds
        else { return nil }
        return self[key]
    }

    package mutating func record(_ failure: Failure, of key: CacheKey, _ url: CacheURL? = nil) {
        older.forget(key)
        guard !younger.record(failure, of: key, url) else { return }
        younger.forget(key)
        swap(&younger, &older)
        younger.forgetAll()
        _ = younger.record(failure, of: key, url)
    }

    /// Forgets all of a kind; of what they were.
    package mutating func forgetAll(_ kind: Failure.Kind) -> [CacheKey] {
        let keys = younger.keys(of: kind) + older.keys(of: kind)
        for key in keys { forget(key) }
        return keys
    }

    /// Forgets a failure; whether there was one.
    @discardableResult
    package mutating func forget(_ key: CacheKey) -> Bool {
        younger.forget(key) || older.forget(key)
    }

    private func notes(of key: CacheKey) -> Generation.Notes? {
        younger.notes[key] ?? older.notes[key]
    }
}

/// Failures that are forgotten together. Their texts lie one behind the other.
private struct Generation {
    package struct Notes {
        let kind: Failure.Kind
        let httpStatus: UInt16?
        let retryAt: UnixTime?
        /// The message in ``Generation/texts``, and behind it the URL, if there is one.
        let start: UInt32
        let messageLength: UInt16
        let urlLength: UInt16
    }

    private static let capacity = NegativeCache.capacity / 2
    /// Bytes.
    private static let textCapacity = 2 << 20

    package private(set) var notes: [CacheKey: Notes] = [:]
    private var texts: [UInt8] = []

    /// Whether there was room for it.
    package mutating func record(_ failure: Failure, of key: CacheKey, _ url: CacheURL?) -> Bool {
        let (message, address) = (failure.message.utf8, url?.string.utf8)
        let length = message.count + (address?.count ?? 0)
        let former = notes[key]
        let start = former.flatMap { holds(message, address, $0) ? Int($0.start) : nil }
        guard start != nil || texts.count + length <= Self.textCapacity,
            former != nil || notes.count < Self.capacity
        else { return false }
        notes[key] = Notes(
            kind: failure.kind, httpStatus: failure.httpStatus.map(UInt16.init(clamping:)),
            retryAt: failure.retryAt, start: UInt32(start ?? texts.count),
            messageLength: UInt16(message.count), urlLength: UInt16(address?.count ?? 0))
        guard start == nil else { return true }
        texts.append(contentsOf: message)
        if let address { texts.append(contentsOf: address) }
        return true
    }

    /// Whether these texts are there already: most failures come again as they were.
    private func holds(
        _ message: String.UTF8View, _ address: String.UTF8View?, _ notes: Notes
    ) -> Bool {
        let lengths = (Int(notes.messageLength), Int(notes.urlLength))
        guard lengths == (message.count, address?.count ?? 0) else { return false }
        let texts = texts[Int(notes.start)...]
        return texts.starts(with: message)
            && texts.dropFirst(lengths.0).starts(with: address ?? "".utf8)
    }

    package func failure(of key: CacheKey) -> Failure? {
        notes[key].map { notes in
            Failure(
                notes.kind, text(notes.start, notes.messageLength),
                httpStatus: notes.httpStatus.map(Int.init), retryAt: notes.retryAt)
        }
    }

    package func url(of key: CacheKey) -> CacheURL? {
        guard let notes = notes[key], notes.urlLength > 0 else { return nil }
        return try? CacheURL(text(notes.start + UInt32(notes.messageLength), notes.urlLength))
    }

    package func keys(of kind: Failure.Kind) -> [CacheKey] {
        notes.filter { $0.value.kind == kind }.map(\.key)
    }

    @discardableResult
    package mutating func forget(_ key: CacheKey) -> Bool { notes.removeValue(forKey: key) != nil }

    package mutating func forgetAll() {
        notes.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
    }

    private func text(_ start: UInt32, _ length: UInt16) -> String {
        String(decoding: texts[Int(start)..<Int(start) + Int(length)], as: UTF8.self)
    }
}

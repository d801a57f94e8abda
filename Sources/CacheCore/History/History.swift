package import CacheFetching
package import CacheKey
package import CacheValues
internal import Logging
internal import Synchronization

/// Remembers what happened to images, and samples of the figures, over restarts.
///
/// Events gather in memory and go to a file every two seconds, so a crash loses no more than that. Nothing else depends
/// on the file: if it is lost, the answers are shorter. If it can't be written, the newest events stay in memory.
final class History: Sendable {
    /// The most events that are remembered.
    static let limit = 10_000
    /// The time for which samples are remembered, in seconds.
    static let sampledTime: Int64 = 24 * 3600

    private struct Pending: Sendable {
        var events: [HistoryEvent] = []
        var samples: [HistorySample] = []
        var last: HistorySample?
        /// The last sample, if it was left out because it repeats the one before.
        var repeated: HistorySample?

        mutating func add(_ newer: [HistoryEvent]) {
            events += newer
            // The older half goes at once, so that each event is moved once at most.
            if events.count >= 2 * History.limit {
                events.removeFirst(events.count - History.limit)
            }
        }

        var text: [UInt8] {
            var text: [UInt8] = []
            for sample in samples { text += sample.line.utf8 }
            for event in events { text += event.line.utf8 }
            return text
        }
    }

    private let pending = Mutex(Pending())
    private let file: Mutex<HistoryFile>

    init(_ directory: CacheDirectory, _ logger: Logger) {
        file = Mutex(HistoryFile(directory: directory, logger: logger))
    }

    // MARK: Remembering

    func add(_ events: [HistoryEvent]) {
        let now = UnixTime.now
        let events = events.map { event in
            var event = event
            (event.at, event.source) = (now, nil)
            return event
        }
        pending.withLock { $0.add(events) }
    }

    /// Adds a sample, unless it repeats the one before.
    func add(_ sample: HistorySample) {
        pending.withLock { pending in
            defer { pending.last = sample }
            guard pending.last?.figures != sample.figures else { return pending.repeated = sample }
            // Without it, the change would look as if it had taken all the time since the last one.
            if let repeated = pending.repeated { pending.samples.append(repeated) }
            pending.repeated = nil
            pending.samples.append(sample)
        }
    }

    /// Writes to the file what was added since.
    func flush() {
        file.withLock { file in
            let taken = pending.withLock { pending in
                defer { (pending.events, pending.samples) = ([], []) }
                return pending
            }
            guard !taken.events.isEmpty || !taken.samples.isEmpty else { return }
            var text = taken
            text.events = taken.events.suffix(Self.limit)
            if !file.append(text.text) {
                pending.withLock { pending in
                    let newer = pending.events
                    pending.events = taken.events
                    pending.add(newer)
                    let samples = taken.samples + pending.samples
                    pending.samples = samples.suffix(Int(Self.sampledTime / 60))
                }
            }
        }
    }

    // MARK: Asking

    /// The events that fit a query, the newest last.
    func events(_ query: HistoryQuery) -> [HistoryEvent] {
        let text = text()
        var found: [HistoryEvent] = []
        var examined = 0
        text.forEachLineFromTheEnd { line in
            guard let event = HistoryEvent(line: line) else { return true }
            examined += 1
            if query.takes(event) { found.append(event) }
            return examined < Self.limit && found.count < query.limit
        }
        name(&found, by: text)
        return found.reversed()
    }

    /// The samples of the last 24 hours, the newest last.
    func samples() -> [HistorySample] {
        let start = UnixTime.now + -Self.sampledTime
        var found: [HistorySample] = []
        text().forEachLineFromTheEnd { line in
            if let sample = HistorySample(line: line), sample.at >= start { found.append(sample) }
            return true
        }
        return found.reversed()
    }

    /// Gives events without a URL that of another event of the same image.
    private func name(_ events: inout [HistoryEvent], by text: [UInt8]) {
        let unnamed = Set(events.lazy.filter { $0.url == nil }.map(\.key))
        guard !unnamed.isEmpty else { return }
        var urls: [CacheKey: String] = [:]
        text.forEachLineFromTheEnd { line in
            if let event = HistoryEvent(line: line), let url = event.url,
                unnamed.contains(event.key)
            {
                urls[event.key] = url
            }
            return urls.count < unnamed.count
        }
        for place in events.indices where events[place].url == nil {
            events[place].url = urls[events[place].key]
        }
    }

    private func text() -> [UInt8] {
        flush()
        // Only `flush` moves events from memory to the file, and it holds this lock.
        return file.withLock { file in file.read(before: pending.withLock { $0.text }) }
    }
}

/// Which events are wanted.
package struct HistoryQuery: Sendable {
    /// `nil` for all images.
    package var keys: Set<CacheKey>?
    /// `nil` for all kinds.
    package var kinds: Set<HistoryEvent.Kind>?
    package var since: UnixTime?
    /// The most events; of more, the newest.
    package var limit: Int

    package init(
        keys: Set<CacheKey>? = nil, kinds: Set<HistoryEvent.Kind>? = nil, since: UnixTime? = nil,
        limit: Int = 10_000
    ) {
        (self.keys, self.kinds, self.since, self.limit) = (keys, kinds, since, limit)
    }

    func takes(_ event: HistoryEvent) -> Bool {
        keys?.contains(event.key) != false && kinds?.contains(event.kind) != false
            && since.map { event.at >= $0 } != false
    }
}

import CacheWire

/// Why an image is here, or why not.
struct WhyAnswer {
    let item: Item
    /// The last event of the image; `nil` if none is remembered.
    let event: HistoryEvent?
    private let now = TimeText.now()

    init(item: Item, event: HistoryEvent?) {
        (self.item, self.event) = (item, event)
    }

    /// The answer in words.
    var text: String {
        switch item.state {
        case .cached: cached
        case .inFlight: inFlight
        case .missing: missing
        }
    }

    private var cached: String {
        let since = item.fetchedAt.map { ", fetched \(ago($0))" } ?? ""
        let problem = item.failure.map { "; it could not be refreshed: \($0.message)" } ?? ""
        return "here\(since)\(problem)"
    }

    private var inFlight: String {
        let phase = item.phase?.rawValue ?? "requested"
        let share = item.percent == nil ? "" : ", \(item.percentText)"
        return "in flight: \(phase)\(share)" + (item.failure.map { "; \($0.message)" } ?? "")
    }

    private var missing: String {
        if item.hasInvalidURL, let failure = item.failure { return failure.message }
        guard let event else {
            return item.failure.map { failed($0, at: nil) }
                ?? "not here: nobody asked for it, as far back as the history reaches"
        }
        let cause = event.cause.map { ": \($0)" } ?? ""
        return switch event.kind {
        case .failed: failed(item.failure ?? event.failure, at: event.at)
        case .evicted: "evicted \(ago(event.at))\(cause)"
        case .removed: "removed \(ago(event.at))\(cause)"
        case .damaged: "removed \(ago(event.at)): its file was damaged"
        case .fetched, .confirmed, .derived:
            "\(event.kind.rawValue) \(ago(event.at)), and its file was removed while no daemon ran"
        }
    }

    private func failed(_ failure: Failure?, at time: Int?) -> String {
        let next = failure?.retryAt ?? 0
        let again =
            next > now
            ? "its origin is not asked again for \(TimeText.describe(from: now, to: next))"
            : "the next request asks its origin again"
        return
            "failed\(time.map { " \(ago($0))" } ?? ""): \(failure?.message ?? "unknown"); \(again)"
    }

    private func ago(_ time: Int) -> String { "\(TimeText.describe(from: time, to: now)) ago" }
}

extension WhyAnswer: JSONWritable {
    func write(to json: inout JSONText) {
        json.object { json in
            json.member("url", item.url)
            json.member("key", item.key)
            json.member("state", item.state)
            json.member("answer", text)
            json.member("event", event)
        }
    }
}

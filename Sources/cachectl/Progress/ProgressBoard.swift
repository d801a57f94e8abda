import CacheWire

/// All downloads of a fetch and how far they are. Pure: the time comes in, nothing goes out.
struct ProgressBoard {
    /// In the order asked.
    private(set) var rows: [ProgressRow]
    private let positions: [String: Int]

    init(urls: [String]) {
        rows = urls.map { ProgressRow(url: $0) }
        positions = Dictionary(zip(urls, urls.indices), uniquingKeysWith: { first, _ in first })
    }

    /// Takes in what a reply says; `now` counts from any one moment.
    mutating func replied(_ items: [Item], now: Duration) {
        for item in items {
            guard let position = positions[item.url] else { continue }
            rows[position].changed(to: item, now: now)
        }
    }

    /// How many downloads there are to draw.
    var activeCount: Int { rows.count { $0.stage != .idle } }

    /// The first downloads to draw: those at work in the order asked, then those that wait.
    func active(_ limit: Int) -> [ProgressRow] {
        let working = rows.lazy.filter { $0.stage != .idle && $0.stage != .queued }.prefix(limit)
        let first = Array(working)
        return first + rows.lazy.filter { $0.stage == .queued }.prefix(limit - first.count)
    }
}

extension ProgressRow {
    fileprivate mutating func changed(to item: Item, now: Duration) {
        stage = Stage(item)
        guard stage != .idle else { return }
        received = item.received ?? 0
        total = item.total
        if stage == .receiving {
            rate.sample(bytes: received, now: now)
        }
    }
}

extension ProgressRow.Stage {
    fileprivate init(_ item: Item) {
        guard item.state == .inFlight else {
            self = .idle
            return
        }
        self =
            switch item.phase {
            case .queued: .queued
            case .receiving, nil: .receiving
            case .connecting, .retrying, .publishing: .busy(item.phase?.rawValue ?? "")
            }
    }
}

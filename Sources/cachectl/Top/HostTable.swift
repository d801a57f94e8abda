import CacheWire

/// The hosts of the cached images and of the downloads: those with the most bytes come first. Pure.
struct HostTable: Hashable {
    struct Row: Hashable {
        var host: String
        var images = 0
        var bytes = 0
        var underWay = 0
        var failed = 0
    }

    private(set) var rows: [Row] = []
    private(set) var isReading = false
    /// Whether the list was read to its end before. Then the old sums stay until the new ones are
    /// complete.
    private(set) var isComplete = false
    private var counted: [String: Row] = [:]
    private var reading: [String: Row] = [:]
    private var downloads: [DownloadTable.Row] = []

    /// The most images that are counted anew by itself whenever the list has changed.
    private static let few = 5000

    /// Whether a change of the list is worth reading it again.
    var isCheap: Bool { counted.values.reduce(0) { $0.saturatingAdding($1.images) } <= Self.few }

    /// Starts to read the list.
    mutating func begin() {
        isReading = true
        reading = [:]
    }

    /// Counts a page. Returns the position of the next one; `nil` after the last.
    mutating func arrived(_ reply: Methods.List.Reply) -> String? {
        guard isReading else { return nil }
        for item in reply.items {
            var row = reading[item.url.host] ?? Row(host: item.url.host)
            row.images += 1
            row.bytes = row.bytes.saturatingAdding(max(0, item.size ?? 0))
            reading[item.url.host] = row
        }
        let after = reply.items.isEmpty ? nil : reply.after
        if after == nil {
            isReading = false
            isComplete = true
        }
        if !isReading || !isComplete { counted = reading }
        arrange()
        return after
    }

    /// The daemon of the reading has gone.
    mutating func stop() {
        isReading = false
    }

    mutating func changed(_ downloads: [DownloadTable.Row]) {
        self.downloads = downloads
        arrange()
    }

    private mutating func arrange() {
        var all = counted
        for download in downloads {
            let host = download.url.host
            var row = all[host] ?? Row(host: host)
            if download.failure == nil { row.underWay += 1 } else { row.failed += 1 }
            all[host] = row
        }
        rows = all.values.sorted { ($1.bytes, $0.host) < ($0.bytes, $1.host) }
    }
}

import CacheWire

/// The table that `list` prints, page by page. The first page includes the header.
struct ItemTable {
    /// The column about time.
    enum Time {
        case lastUse, age
        /// How much of a download has arrived, or its phase.
        case progress
        /// Why it has its place in the order of eviction.
        case rank
        /// Why the image is not here.
        case failure
    }

    private let time: Time
    /// The current time as a Unix second; ages are relative to it.
    private let now: Int
    /// The columns of the table that the terminal has room for.
    private let shown: [Column]
    private var table: Table
    private var hasHeader = false

    /// - Parameter columns: the width of the terminal; `nil` for no limit.
    init(time: Time, now: Int, columns: Int?) {
        self.time = time
        self.now = now
        shown = Column.allCases.filter { $0.neededWidth <= columns ?? .max }
        table = Table(shown.map(\.alignment), columns: columns)
    }

    /// The lines of one page.
    mutating func lines(_ items: [Item]) -> [String] {
        var rows = items.map { item in shown.map { cell($0, item) } }
        if !hasHeader {
            hasHeader = true
            rows.insert(shown.map(title), at: 0)
        }
        return table.lines(rows)
    }

    private func title(_ column: Column) -> String {
        switch column {
        case .size: "SIZE"
        case .type: "TYPE"
        case .dimensions: "DIMENSIONS"
        case .time:
            switch time {
            case .lastUse: "LAST USED"
            case .age: "AGE"
            case .progress: "PROGRESS"
            case .rank: "WHY"
            case .failure: "FAILURE"
            }
        case .pinned: "PINNED"
        case .url: "URL"
        }
    }

    private func cell(_ column: Column, _ item: Item) -> String {
        switch column {
        case .size: (item.size ?? item.total).map(ByteCountText.describe) ?? "-"
        case .type: item.mediaType?.printable ?? "-"
        case .dimensions: item.dimensions
        case .time: timeCell(item)
        case .pinned: item.pinnedText ?? "-"
        case .url: Self.name(item)
        }
    }

    private func timeCell(_ item: Item) -> String {
        switch time {
        case .lastUse: age(item.lastUsedAt)
        case .age: age(item.fetchedAt)
        case .rank: item.rank?.words ?? "-"
        case .failure: item.failure.map { $0.httpStatus.map { "status \($0)" } ?? $0.kind } ?? "-"
        case .progress: item.percent == nil ? item.phase?.rawValue ?? "-" : item.percentText
        }
    }

    private func age(_ second: Int?) -> String {
        second.map { TimeText.describe(from: $0, to: now) } ?? "-"
    }

    /// The URL. If the file's attributes have no room for it, the key and the reason.
    private static func name(_ item: Item) -> String {
        item.url.isEmpty
            ? "\(item.key.printable) (the URL is too long for the file's attributes)"
            : item.url.printable
    }
}

extension ItemTable {
    private enum Column: CaseIterable {
        case size, type, dimensions, time, pinned, url

        var alignment: Table.Alignment {
            switch self {
            case .size, .dimensions, .time: .right
            case .type, .pinned, .url: .left
            }
        }

        /// The width of a terminal on which the column leaves enough room for the URL.
        var neededWidth: Int {
            switch self {
            case .size, .url: 0
            case .time: 44
            case .type: 60
            case .dimensions: 72
            case .pinned: 80
            }
        }
    }
}

extension Item.Rank {
    fileprivate var words: String {
        switch self {
        case .neverUsed: "never used"
        case .leastRecentlyUsed: "least recently used"
        case .pinned: "pinned"
        }
    }
}

import CacheWire

/// The table that `list` prints, page by page. The first page includes the header.
struct ItemTable {
    private let order: ListOrder
    /// The current time as a Unix second; ages are relative to it.
    private let now: Int
    private var table = Table([.right, .left, .right, .right, .left, .left])
    private var hasHeader = false

    init(order: ListOrder, now: Int) {
        self.order = order
        self.now = now
    }

    /// The lines of one page.
    mutating func lines(_ items: [Item]) -> [String] {
        var rows = items.map(row)
        if !hasHeader {
            hasHeader = true
            let time = order == .age ? "AGE" : "LAST USED"
            rows.insert(["SIZE", "TYPE", "DIMENSIONS", time, "PINNED", "URL"], at: 0)
        }
        return table.lines(rows)
    }

    private func row(_ item: Item) -> [String] {
        let second = order == .age ? item.fetchedAt : item.lastUsedAt
        return [
            item.size.map(ByteCountText.describe) ?? "-",
            item.mediaType?.printable ?? "-",
            item.dimensions,
            second.map { TimeText.describe(from: $0, to: now) } ?? "-",
            item.pinnedText ?? "-",
            Self.name(item),
        ]
    }

    /// The URL. If the file's attributes have no room for it, the key and the reason.
    private static func name(_ item: Item) -> String {
        item.url.isEmpty
            ? "\(item.key) (the URL is too long for the file's attributes)" : item.url.printable
    }
}

import CacheWire

/// Images with equal bytes, side by side.
struct DuplicatesReport {
    private var items: [String: [Item]] = [:]

    mutating func add(_ page: [Item]) {
        for item in page { items[item.sha256 ?? "", default: []].append(item) }
    }

    /// Prints the contents with the most bytes in copies first: a line for each, and below it the URLs.
    func print(limit: Int?, json: Bool, to output: inout Output) throws {
        // An entry without a digest cannot be compared, and one that was removed in the meantime leaves a single one.
        let groups = items.filter { !$0.key.isEmpty && $0.value.count > 1 }
        let sorted = groups.sorted {
            (Self.weight($0.value), $1.key) > (Self.weight($1.value), $0.key)
        }
        for (digest, copies) in sorted.prefix(limit ?? .max) {
            let urls = copies.sorted { $0.url < $1.url }
            guard !json else {
                for item in urls { try output.json(item) }
                continue
            }
            let size = copies.first?.size.map(ByteCountText.describe) ?? "?"
            try output.line("sha256:\(digest)  \(copies.count) × \(size)")
            for item in urls {
                try output.line("  \(item.url.isEmpty ? item.key : item.url.printable)")
            }
        }
    }

    private static func weight(_ copies: [Item]) -> Int {
        (copies.count - 1) * (copies.first?.size ?? 0)
    }
}

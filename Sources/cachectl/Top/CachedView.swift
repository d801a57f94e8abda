import CacheWire

/// Draws the cached images: the size of the cache, memory pressure, rates and rows.
struct CachedView {
    let screen: TopScreen

    private var model: TopModel { screen.model }
    private var statsHistory: StatsHistory { screen.model.statsHistory }
    private var terminal: TerminalCapabilities { screen.terminal }

    // MARK: The figures

    var budget: StyledLine {
        guard let used = statsHistory.int("bytesUsed"),
            let allowed = statsHistory.int("bytesAllowed")
        else {
            return StyledLine()
        }
        var line = StyledLine(ByteCountText.describe(used), .strong)
        line.append(" of \(ByteCountText.describe(allowed))  ")
        let width = screen.columns / 5
        let fraction = allowed > 0 ? Double(used) / Double(allowed) : 1
        // A cache that holds something never looks empty.
        let least = used > 0 && width > 0 ? 1 / Double(8 * width) : 0
        line.append(
            Bar(terminal: terminal, width: width).line(
                max(fraction, least), fraction > 0.95 ? .warning : .done))
        line.append("  " + images(statsHistory.int("entries")))
        let pinned = statsHistory.int("entriesPinned") ?? 0
        if pinned > 0 {
            line.append(
                ", \(pinned) pinned (\(ByteCountText.describe(statsHistory.int("bytesPinned") ?? 0)))"
            )
        }
        return line
    }

    var pressure: StyledLine {
        guard let source = statsHistory.string("pressureSource") else { return StyledLine() }
        var line = StyledLine("pressure ", .faint)
        line.append(source.printable)
        guard let level = statsHistory.string("pressureLastLevel"),
            let second = statsHistory.int("pressureLastAt")
        else { return line }
        let age = TimeText.describe(from: second, to: screen.time.unixSecond)
        let bytes = ByteCountText.describe(statsHistory.int("pressureLastBytes") ?? 0)
        line.append("  last ", .faint)
        line.append("\(level) \(age) ago", level == "critical" ? .failure : .warning)
        line.append(": \(statsHistory.int("pressureLastEntries") ?? 0) evicted, \(bytes)")
        return line
    }

    private func images(_ count: Int?) -> String {
        count == 1 ? "1 image" : "\(count ?? 0) images"
    }

    var sparklines: StyledLine {
        let parts: [(String, StatsHistory.Samples, (Double) -> String)] = [
            ("hits", statsHistory.hits, { "\(Int(saturating: $0.rounded()))/s" }),
            (
                "in", statsHistory.bytesReceived,
                { ByteCountText.describe(Int(saturating: $0)) + "/s" }
            ),
            (
                "evicted", statsHistory.bytesEvicted,
                { ByteCountText.describe(Int(saturating: $0)) + "/s" }
            ),
        ]
        // Words, numbers and spaces take 50 columns.
        let width = max(4, (screen.columns - 50) / parts.count)
        return parts.reduce(into: StyledLine()) { line, part in
            line.append(part.0 + " ", .faint)
            line.append(
                Sparkline(terminal: terminal, width: width).line(
                    part.1.values, faint: part.1.minutes))
            let rate = " " + part.2(part.1.latest ?? 0)
            line.append(rate + String(repeating: " ", count: max(1, 11 - rate.columns)))
        }
    }

    // MARK: The rows

    private var isWide: Bool { screen.columns >= 60 }
    private var timeHead: String { model.cached.order == .newest ? "AGE" : "USED" }

    var heads: StyledLine {
        var line = StyledLine("    ")
        line.append(
            figures(size: "SIZE", type: "TYPE", dimensions: "PIXELS", time: timeHead))
        let host = model.cached.filter.host.map { " of \($0.printable)" } ?? ""
        line.append("URL\(host), \(model.cached.order.rawValue) first")
        return line.styled(.faint)
    }

    var rows: [StyledLine] {
        screen.selecting(model.cachedRows, model.cached.items[model.cachedRows.range].map(row))
    }

    private func row(_ item: Item) -> StyledLine {
        var line = screen.signs(item)
        line.pad(to: 4)
        let second = model.cached.order == .newest ? item.fetchedAt : item.lastUsedAt
        let age = second.map { TimeText.describe(from: $0, to: screen.time.unixSecond) }
        line.append(
            figures(
                size: item.size.map(ByteCountText.describe) ?? "",
                type: item.mediaType?.printable ?? "", dimensions: item.dimensions,
                time: item.refreshProgress ?? age ?? ""))
        let room = screen.columns - line.columns
        line.append(item.url.shortURL(columns: room, mark: terminal.ellipsis))
        return line
    }

    /// The columns between the signs and the URL. A narrow screen leaves two of them out.
    private func figures(
        size: String, type: String, dimensions: String, time: String
    ) -> StyledLine {
        var line = StyledLine()
        line.append(size, width: 7)
        if isWide {
            line.append("  ")
            // All types of images begin with the same word.
            let kind = type.hasPrefix("image/") ? String(type.dropFirst(6)) : type
            line.append(kind.prefix(columns: 8, mark: terminal.ellipsis))
            line.pad(to: 17)
            line.append(dimensions, width: 10)
        }
        line.append(time, width: 8)
        line.append("  ")
        return line
    }
}

extension Item {
    /// The progress of a refresh, in the column of the age; `nil` if there is no refresh.
    fileprivate var refreshProgress: String? {
        switch phase {
        case .queued, .connecting: "asking"
        case .receiving: fraction.map(DownloadLine.percent) ?? "coming"
        case .retrying: "retries"
        case .deriving: "deriving"
        case .publishing: "saving"
        case nil: nil
        }
    }
}

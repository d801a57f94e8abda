/// Turns a board into lines of text for a terminal. Pure: the same board, size and time give the
/// same lines.
struct ProgressRenderer {
    let style: ProgressStyle
    /// Columns of the terminal; no line is longer, nor as long, since a full line wraps.
    let columns: Int
    /// Lines of the terminal; one stays free for the cursor.
    let lines: Int

    /// A line for each download, and if they are too many a last one that counts the others.
    func render(_ board: ProgressBoard, now: Duration) -> [String] {
        let room = max(1, lines - 1)
        let count = board.activeCount
        guard count > room else { return board.active(count).map { line($0, now: now) } }
        let shown = board.active(room - 1).map { line($0, now: now) }
        return shown + ["\(style.ellipsis) and \(count - shown.count) more"]
    }

    /// `━━━━━━──────  42.0%  420 kB/1.0 MB  3.1 MB/s  0:12  example.com/a.png`: the columns keep
    /// their places, the end of the URL takes what is left, and a narrow terminal sees less.
    func line(_ row: ProgressRow, now: Duration) -> String {
        let bar = ProgressBar(style: style, width: columns >= 80 ? 20 : 10)
        var room = columns - 1 - bar.width
        guard room >= 0 else { return "" }
        var text = row.fraction.map(bar.determinate) ?? bar.indeterminate(now: now)
        for cell in cells(row) {
            guard cell.columns + 2 <= room else { break }
            text += "  " + cell
            room -= cell.columns + 2
        }
        let label = label(row.url).suffix(columns: room - 2, mark: style.ellipsis)
        return label.isEmpty ? text : text + "  " + label
    }

    /// The columns between bar and URL, most important first, each of its usual width.
    private func cells(_ row: ProgressRow) -> [String] {
        let percent = row.fraction.map(Self.percent) ?? ""
        let total = row.total.map { "/" + ByteCountText.describe($0) } ?? ""
        let bytes = ByteCountText.describe(row.received) + total
        var cells = [percent.padded(6), bytes.padded(15)]
        switch row.stage {
        case .receiving:
            let rate = row.rate.bytesPerSecond.map { ByteCountText.describe(Int($0)) + "/s" }
            cells += [(rate ?? "").padded(9), (row.secondsLeft.map(Self.clock) ?? "").padded(7)]
        case .busy(let phase): cells += [phase.padded(9), "".padded(7)]
        case .queued: cells += ["queued".padded(9), "".padded(7)]
        case .idle: break
        }
        return cells
    }

    /// The URL without its scheme, which says little.
    private func label(_ url: String) -> String {
        let printable = url.printable
        guard let slashes = printable.firstRange(of: "://") else { return printable }
        return String(printable[slashes.upperBound...])
    }

    private static func percent(_ fraction: Double) -> String {
        let tenths = Int((fraction * 1000).rounded(.down))
        return "\(tenths / 10).\(tenths % 10)%"
    }

    /// `0:12`, `61:02`, from 100 minutes on `1:40 h`.
    static func clock(_ seconds: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        guard seconds < 6000 else { return "\(seconds / 3600):\(two(seconds / 60 % 60)) h" }
        return "\(seconds / 60):\(two(seconds % 60))"
    }
}

extension String {
    /// The text pushed to the right in so many columns.
    fileprivate func padded(_ width: Int) -> String {
        String(repeating: " ", count: max(0, width - columns)) + self
    }
}

import CacheWire

/// Draws all that is known about one image. A picture can stand at the right.
struct DetailsView {
    let screen: TopScreen
    let item: Item

    var lines: [StyledLine] {
        var table = Table([.left, .left])
        let fields = item.fields.filter { $0.name != "url" }
        let lines = table.lines(fields.map { [$0.name, $0.value.printable] })
        let width = DetailsLayout(size: screen.model.size).textColumns
        return [url, state, StyledLine()]
            + lines.map { StyledLine($0.prefix(columns: width, mark: screen.terminal.ellipsis)) }
    }

    private var url: StyledLine {
        let text = item.url.printable
        return StyledLine(
            text.middle(columns: screen.columns, mark: screen.terminal.ellipsis), .strong)
    }

    private var state: StyledLine {
        var line = screen.signs(item)
        let now = screen.time.unixSecond
        let event = screen.model.explanation.event
        line.append(" " + item.stateText(now: now, event: event))
        let marks = ImageState.marks(of: item, now: now).map { mark in
            mark == .failed ? "the last refresh failed" : mark.word
        }
        if !marks.isEmpty { line.append(", " + marks.joined(separator: ", ")) }
        if let rate = screen.model.watched[item.url]?.rate.bytesPerSecond, item.phase == .receiving
        {
            line.append(", \(ByteCountText.describe(Int(saturating: rate)))/s", .faint)
        }
        return line
    }
}

/// Divides the screen between the fields and the picture.
struct DetailsLayout: Hashable {
    /// The columns of the fields.
    let textColumns: Int
    /// Where the picture is; `nil` on a screen without room for it.
    let picture: PicturePlace?

    init(size: TerminalSize) {
        let panel = TopLayout(size: size, view: .downloads).panel
        // Below the URL and the state.
        let top = panel.lowerBound + 3
        let width = size.columns / 2
        let hasRoom = size.columns >= 60 && panel.upperBound - top >= 4
        textColumns = hasRoom ? size.columns - width - 2 : size.columns
        picture =
            hasRoom
            ? PicturePlace(
                column: size.columns - width, line: top, columns: width,
                lines: panel.upperBound - top) : nil
    }
}

extension Item {
    /// The state in words, as every program says it.
    ///
    /// - Parameter event: the last event of an image that is gone.
    func stateText(now: Int, event: HistoryEvent? = nil) -> String {
        let state = ImageState(self, now: now)
        let bytes = ByteCountText.describe(max(0, received ?? 0))
        let reason = failure?.message.printable
        return switch state {
        case .receiving: "\(bytes) of \(ByteCountText.describe(max(0, total ?? 0)))"
        case .unmeasured: "\(bytes) received"
        case .failed: reason ?? state.word
        case .gone: event?.outcome.printable ?? Self.sentence(state.word)
        case .retrying: Self.sentence(state.word) + (reason.map { ": \($0)" } ?? "") + wait(now)
        default: Self.sentence(state.word)
        }
    }

    private func wait(_ now: Int) -> String {
        guard let second = failure?.retryAt, second > now else { return "" }
        return ", \(second.saturatingSubtracting(now)) s"
    }

    private static func sentence(_ word: String) -> String {
        word.prefix(1).uppercased() + word.dropFirst()
    }
}

/// Why a download does not go on, and when it may: in full, or as short as there is room.
struct FailureSummary: Hashable {
    var reason: String
    /// What the origin answered, where that is why.
    var status: Int?
    /// Empty where nobody knows.
    var retry = ""
    var shortRetry = ""

    /// A reason that was cut off tells something from so many columns on.
    private static let least = 8
    /// Start and end of a reason both tell something from so many columns on.
    private static let roomy = 40

    private var shortReason: String { status.map { "HTTP \($0)" } ?? reason.printable }

    /// Columns of the shortest form, nothing cut off.
    var shortest: Int { shortReason.columns + Self.suffix(shortRetry).columns }

    /// The longest form that fits; else the reason is cut off, or, where that would leave nothing of it,
    /// the time left out.
    func line(columns: Int, _ style: TextStyle, _ terminal: TerminalCapabilities) -> StyledLine {
        let forms = [
            (reason.printable, retry), (reason.printable, shortRetry), (shortReason, shortRetry),
        ]
        let form = forms.first { $0.0.columns + Self.suffix($0.1).columns <= columns }
        let (reason, retry) = form ?? (shortReason, shortRetry)
        let suffix = columns - Self.suffix(retry).columns < Self.least ? "" : Self.suffix(retry)
        let room = columns - suffix.columns
        let cut =
            room < Self.roomy
            ? reason.prefix(columns: room, mark: terminal.ellipsis)
            : reason.middle(columns: room, mark: terminal.ellipsis)
        var line = StyledLine(cut, style)
        line.append(suffix)
        return line
    }

    private static func suffix(_ retry: String) -> String { retry.isEmpty ? "" : ", \(retry)" }
}

import CacheWire

/// Why a download failed and when it can be retried, in long and short forms.
struct FailureSummary: Hashable {
    var reason: String
    /// The HTTP status that the origin answered, if that is the reason.
    var status: Int?
    /// When the download can be retried; empty if unknown.
    var retry = ""
    var shortRetry = ""

    /// A reason that is cut to fewer columns says nothing.
    private static let least = 8
    /// From this width on, both the start and the end of a reason are shown.
    private static let roomy = 40

    private var shortReason: String { status.map { "HTTP \($0)" } ?? reason.printable }

    /// The width of the shortest form, without any cut.
    var shortest: Int { shortReason.columns + Self.suffix(shortRetry).columns }

    /// The longest form that fits. If none fits, the reason is cut. If too little of the reason
    /// would remain, the retry time is left out.
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

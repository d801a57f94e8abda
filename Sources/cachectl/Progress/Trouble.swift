/// Why a download does not go on, and when it may: in full, or as short as there is room.
struct Trouble: Hashable {
    var why: String
    /// What the origin answered, where that is why.
    var status: Int?
    /// Empty where nobody knows.
    var when = ""
    var shortWhen = ""

    /// A reason that was cut off tells something from so many columns on.
    private static let least = 8
    /// Start and end of a reason both tell something from so many columns on.
    private static let roomy = 40

    private var shortWhy: String { status.map { "HTTP \($0)" } ?? why.printable }

    /// Columns of the shortest form, nothing cut off.
    var shortest: Int { shortWhy.columns + Self.suffix(shortWhen).columns }

    /// The longest form that fits; else the reason is cut off, or, where that would leave nothing of it,
    /// the time left out.
    func line(columns: Int, _ ink: Ink, _ look: Look) -> StyledLine {
        let forms = [(why.printable, when), (why.printable, shortWhen), (shortWhy, shortWhen)]
        let form = forms.first { $0.0.columns + Self.suffix($0.1).columns <= columns }
        let (reason, when) = form ?? (shortWhy, shortWhen)
        let suffix = columns - Self.suffix(when).columns < Self.least ? "" : Self.suffix(when)
        let room = columns - suffix.columns
        let cut =
            room < Self.roomy
            ? reason.prefix(columns: room, mark: look.ellipsis)
            : reason.middle(columns: room, mark: look.ellipsis)
        var line = StyledLine(cut, ink)
        line.append(suffix)
        return line
    }

    private static func suffix(_ when: String) -> String { when.isEmpty ? "" : ", \(when)" }
}

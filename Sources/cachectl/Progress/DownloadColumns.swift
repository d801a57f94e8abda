/// The width of each part of a download's line, in columns. 0 means that the part is left out.
struct DownloadColumns: Hashable {
    var gap = 1
    var percent = 6
    var bar = 0
    var bytes = 0
    var rate = 0
    var timeLeft = 0
    var phase = 10
    /// The remaining columns, which show the URL.
    private(set) var url = 0

    /// A narrow terminal shows fewer parts. It always shows the ring, the percentage and the URL.
    init(columns: Int) {
        switch columns {
        case ..<32: phase = 0
        case ..<60: break
        case ..<80: bar = 8
        case ..<120: (bar, bytes, rate, timeLeft) = (8, 13, 8, 6)
        default: (gap, bar, bytes, rate, timeLeft) = (2, 20, 13, 9, 7)
        }
        url = max(0, columns - Ring.columns - gap - parts.reduce(0) { $0 + $1 + gap })
    }

    /// The widths of the visible parts between the ring and the URL.
    private var parts: [Int] { [percent, bar, bytes, rate, timeLeft, phase].filter { $0 > 0 } }

    /// The columns between the ring and the phase. One long text can use them instead of the single
    /// parts.
    var figures: Int {
        let parts = [percent, bar, bytes, rate, timeLeft].filter { $0 > 0 }
        return parts.reduce(0, +) + (parts.count - 1) * gap
    }
}

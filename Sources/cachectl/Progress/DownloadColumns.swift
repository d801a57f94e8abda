/// How many columns each part of a download's line gets; 0 for one that is left out.
struct DownloadColumns: Hashable {
    var gap = 1
    var percent = 6
    var bar = 0
    var bytes = 0
    var rate = 0
    var timeLeft = 0
    var phase = 10
    /// What all of them leave, after the ring.
    private(set) var url = 0

    /// A narrow terminal sees less; the ring, the share and the URL it always sees.
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

    /// All between ring and URL that are there.
    private var parts: [Int] { [percent, bar, bytes, rate, timeLeft, phase].filter { $0 > 0 } }

    /// Columns from the end of the ring to the phase, for one text in place of many.
    var figures: Int {
        let parts = [percent, bar, bytes, rate, timeLeft].filter { $0 > 0 }
        return parts.reduce(0, +) + (parts.count - 1) * gap
    }
}

/// The width of each part of a download's line, in columns. 0 means that the part is left out.
struct DownloadColumns: Hashable {
    var gap = 1
    var percent = 4
    var bar = 0
    var bytes = 0
    var rate = 0
    var timeLeft = 0
    /// The remaining columns, which show the URL.
    private(set) var url = 0

    /// A narrow terminal shows fewer parts. It always shows the sign, the percentage and the URL.
    init(columns: Int) {
        switch columns {
        case ..<32: break
        case ..<60: rate = 8
        case ..<120: (bar, rate, timeLeft) = (6, 8, 6)
        default: (gap, bar, bytes, rate, timeLeft) = (2, 20, 13, 9, 7)
        }
        url = max(0, columns - 1 - figures - 2 * gap)
    }

    /// The columns between the sign and the URL. One text can use them instead of the single parts.
    var figures: Int {
        let parts = [percent, bar, bytes, rate, timeLeft].filter { $0 > 0 }
        return parts.reduce(0, +) + (parts.count - 1) * gap
    }
}

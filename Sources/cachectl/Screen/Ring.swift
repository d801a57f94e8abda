/// A ring two columns wide. It fills clockwise in eighths, or turns while the progress is unknown.
struct Ring {
    let terminal: TerminalCapabilities

    static let columns = 2

    /// A ring filled to `fraction`, 0 to 1. Any progress shows at least one dot, and the ring
    /// closes only at 1.
    func filled(_ fraction: Double) -> String {
        let eighths = fraction >= 1 ? 8 : max(0, min(7, Int((fraction * 8).rounded(.up))))
        guard terminal.isUnicode else { return "\(Self.density[eighths]) " }
        return Self.braille(Self.dots.prefix(eighths))
    }

    /// A dot in place of a ring for a download that has not started.
    var waiting: String { terminal.isUnicode ? "· " : ". " }

    /// A third of the ring that goes round once a second.
    func turning(now: Duration) -> String {
        let step = Int(now / .milliseconds(125))
        guard terminal.isUnicode else { return "\(Self.spin[step % Self.spin.count]) " }
        return Self.braille((0..<3).map { Self.dots[(step + $0) % 8] })
    }

    private static let density: [Character] = [".", ":", "-", "=", "+", "*", "o", "O", "@"]
    private static let spin: [Character] = ["|", "/", "-", "\\"]

    /// The dots of a ring, clockwise from the top. Each has the index of its cell and its bit in
    /// the braille pattern (Unicode Standard §21.1). Two cells have four by four dots, and the ring
    /// is their border without the corners:
    ///
    ///     · 8 1 ·
    ///     7 · · 2
    ///     6 · · 3
    ///     · 5 4 ·
    private static let dots: [(cell: Int, bit: UInt32)] = [
        (1, 0x01), (1, 0x10), (1, 0x20), (1, 0x40), (0, 0x80), (0, 0x04), (0, 0x02), (0, 0x08),
    ]

    private static func braille(_ dots: some Sequence<(cell: Int, bit: UInt32)>) -> String {
        var cells: [UInt32] = [0x2800, 0x2800]
        for dot in dots { cells[dot.cell] |= dot.bit }
        return cells.reduce(into: "") { $0.unicodeScalars.append(Unicode.Scalar($1)!) }
    }
}

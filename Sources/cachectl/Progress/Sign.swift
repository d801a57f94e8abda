/// The signs of the states, each one column wide.
struct Sign {
    let terminal: TerminalCapabilities

    /// The sign of a state, in its color.
    ///
    /// - Parameters:
    ///   - fraction: what a ring shows, 0 to 1: the received fraction or, of a pause, what is left.
    ///   - now: turns what is in motion.
    func line(
        _ state: ImageState, fraction: Double? = nil, now: Duration = .zero
    ) -> StyledLine {
        StyledLine(text(state, fraction: fraction, now: now), state.style)
    }

    func text(_ state: ImageState, fraction: Double?, now: Duration) -> String {
        switch (state, fraction) {
        // Only a published image closes the ring.
        case (.receiving, _): ring(min(fraction ?? 0, 0.97))
        case (.retrying, let left?): emptying(left)
        case (.unmeasured, _): turning(terminal.isUnicode ? Self.arcs : Self.strokes, now)
        case (.deriving, _): turning(terminal.isUnicode ? ["◩", "◪"] : ["=", "#"], now)
        default: terminal.isUnicode ? Self.signs[state] ?? " " : Self.letters[state] ?? " "
        }
    }

    /// A ring filled to `fraction`, 0 to 1, in whole quarters. It is never ahead.
    func ring(_ fraction: Double) -> String {
        let quarters = max(0, min(4, Int(saturating: fraction * 4)))
        return (terminal.isUnicode ? Self.rings : Self.circles)[quarters]
    }

    /// A ring that empties, in thirds: a sign of its own, because what is filled stands for bytes.
    private func emptying(_ left: Double) -> String {
        let third = max(0, min(2, Int(saturating: left * 3)))
        return (terminal.isUnicode ? ["◴", "◐", "◍"] : [",", "+", "%"])[third]
    }

    /// All of the frames in a second.
    private func turning(_ frames: [String], _ now: Duration) -> String {
        frames[Int(now / .milliseconds(1000 / frames.count)) % frames.count]
    }

    private static let rings = ["○", "◔", "◑", "◕", "●"]
    private static let circles = [".", "-", "o", "O", "@"]
    private static let arcs = ["◜", "◝", "◞", "◟"]
    private static let strokes = ["|", "/", "-", "\\"]
    private static let signs: [ImageState: String] = [
        .queued: "○", .connecting: "◌", .publishing: "◉", .retrying: "↻", .failed: "!",
        .cached: "●", .stale: "◷", .pinned: "◆", .gone: "×",
    ]
    private static let letters: [ImageState: String] = [
        .queued: ".", .connecting: ":", .publishing: "0", .retrying: "~", .failed: "!",
        .cached: "@", .stale: "?", .pinned: "*", .gone: "x",
    ]
}

extension ImageState {
    /// The color of the sign.
    var style: TextStyle {
        switch self {
        case .queued, .cached, .gone: .faint
        case .connecting, .receiving, .unmeasured, .deriving, .publishing: .done
        case .retrying, .stale, .pinned: .warning
        case .failed: .failure
        }
    }
}

import CacheWire

/// The progress of a fetch on a terminal: owns the board and draws it.
final class ProgressDisplay {
    private let display: InlineDisplay
    private let start = ContinuousClock.now
    private var board = FetchBoard(urls: [])

    private init(display: InlineDisplay) {
        self.display = display
    }

    /// A display on standard error, if that is a terminal.
    static func onTerminal() -> ProgressDisplay? {
        InlineDisplay.onTerminal().map { ProgressDisplay(display: $0) }
    }

    /// Forgets what was and expects news about `urls`.
    func begin(_ urls: [String]) {
        board = FetchBoard(urls: urls)
    }

    /// Takes in what a reply says, and draws.
    func update(_ items: [Item]) {
        board.replied(items, now: start.duration(to: .now))
        tick()
    }

    /// Draws what is known now.
    func tick() {
        let time = ScreenTime.now(since: start)
        board.advanced(to: time.elapsed)
        display.draw(FetchView(look: display.look, size: display.size, time: time).lines(board))
    }

    /// Leaves the screen as it was.
    func erase() {
        display.erase()
    }
}

import CacheWire

/// The progress of a fetch on a terminal: owns the board and draws it.
final class ProgressDisplay {
    private let display: InlineDisplay
    private let start = ContinuousClock.now
    private var progress = FetchProgress(urls: [])

    private init(display: InlineDisplay) {
        self.display = display
    }

    /// A display on standard error, if that is a terminal.
    static func onTerminal() -> ProgressDisplay? {
        InlineDisplay.onTerminal().map { ProgressDisplay(display: $0) }
    }

    /// Forgets what was and expects news about `urls`.
    func begin(_ urls: [String]) {
        progress = FetchProgress(urls: urls)
    }

    /// Takes in what a reply says, and draws.
    func update(_ items: [Item]) {
        progress.replied(items, now: start.duration(to: .now))
        tick()
    }

    /// Draws what is known now.
    func tick() {
        let time = ScreenTime.now(since: start)
        progress.advanced(to: time.elapsed)
        display.draw(
            FetchView(terminal: display.terminal, size: display.size, time: time).lines(progress))
    }

    /// Leaves the screen as it was.
    func erase() {
        display.erase()
    }
}

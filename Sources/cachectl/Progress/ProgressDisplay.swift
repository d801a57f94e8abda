import CacheWire

/// Shows the progress of a fetch on a terminal.
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

    /// Starts the display of a new set of URLs.
    func begin(_ urls: [String]) {
        progress = FetchProgress(urls: urls)
    }

    /// Applies the items of a reply and draws.
    func update(_ items: [Item]) {
        progress.replied(items, now: start.duration(to: .now))
        tick()
    }

    /// Draws the current state.
    func tick() {
        let time = ScreenTime.now(since: start)
        progress.advanced(to: time.elapsed)
        display.draw(
            FetchView(terminal: display.terminal, size: display.size, time: time).lines(progress))
    }

    /// Removes the display from the screen.
    func erase() {
        display.erase()
    }
}

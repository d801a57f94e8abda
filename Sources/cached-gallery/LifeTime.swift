import NIOCore

/// Ends the program when no page is open for some time. Used on the event loop only.
final class LifeTime {
    private let loop: any EventLoop
    private let idle: TimeAmount
    private let end: () -> Void
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - first: the time until the first page must be open.
    ///   - idle: the time without a page after that.
    init(
        _ loop: any EventLoop, first: TimeAmount, idle: TimeAmount, _ end: @escaping () -> Void
    ) {
        self.loop = loop
        self.idle = idle
        self.end = end
        start(first)
    }

    /// A page was opened, or the last one was closed.
    func pages(_ areThere: Bool) {
        timer?.cancel()
        if !areThere { start(idle) }
    }

    private func start(_ time: TimeAmount) {
        timer = loop.assumeIsolated().scheduleTask(in: time) { [end] in end() }
    }
}

import CacheWire
import NIOCore

/// Reports the level of memory pressure to the streams that watch it. Used on the event loop only, except for
/// ``level``.
final class PressureNews: Sendable {
    private struct State {
        var listeners: [ObjectIdentifier: UpdateStream] = [:]
        var told = MemoryPressure.normal
        var timer: Scheduled<Void>?
    }

    private let monitor: PressureMonitor
    private let loop: any EventLoop
    private let state: NIOLoopBoundBox<State>

    init(_ monitor: PressureMonitor, loop: any EventLoop) {
        self.monitor = monitor
        self.loop = loop
        state = .makeBoxSendingValue(State(), eventLoop: loop)
    }

    /// The level now. Can be read on any thread.
    var level: MemoryPressure { monitor.update { $0.state.level(now: .now) } }

    func add(_ stream: UpdateStream) {
        state.value.listeners[ObjectIdentifier(stream)] = stream
        check()
    }

    func remove(_ stream: UpdateStream) {
        state.value.listeners[ObjectIdentifier(stream)] = nil
        guard state.value.listeners.isEmpty else { return }
        state.value.timer?.cancel()
        state.value.timer = nil
    }

    /// The monitor has a report. Can be called on any thread.
    func reported() {
        loop.execute { self.check() }
    }

    /// Reports a level that differs from the last one, and looks again when the level can fall.
    private func check() {
        guard !state.value.listeners.isEmpty else { return }
        let level = level
        if level != state.value.told {
            state.value.told = level
            for stream in state.value.listeners.values { stream.receive(level) }
        }
        state.value.timer?.cancel()
        state.value.timer = nil
        let now = ContinuousClock.Instant.now
        guard let next = monitor.update({ $0.state.nextChange(after: now) }) else { return }
        let wait = TimeAmount.microseconds((next - now).microseconds + 1000)
        state.value.timer = loop.assumeIsolated().scheduleTask(in: wait) { self.check() }
    }
}

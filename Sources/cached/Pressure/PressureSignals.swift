import CacheWire
import ServiceLifecycle
import UnixSignals

/// The signals for people and scripts: `SIGUSR1` causes the reaction to a warning, `SIGUSR2` the reaction to critical
/// pressure. They never wait for a cool-down.
struct PressureSignals: Service {
    private let monitor: PressureMonitor
    private let signals: UnixSignalsSequence

    /// Handles the signals from here on. Signals that arrive before `run` wait for it.
    init(monitor: PressureMonitor) async {
        self.monitor = monitor
        signals = await UnixSignalsSequence(trapping: .sigusr1, .sigusr2)
    }

    /// Passes signals to the monitor until the daemon stops.
    func run() async throws {
        for await signal in signals.cancelOnGracefulShutdown() {
            monitor.request(signal == .sigusr2 ? .critical : .warning, source: "\(signal)")
        }
    }
}

import CacheWire
import ServiceLifecycle
import UnixSignals

/// The signals for people and scripts: `SIGUSR1` asks for what a warning does, `SIGUSR2` for what
/// critical pressure does. They never wait for a cool-down.
struct PressureSignals: Service {
    private let monitor: PressureMonitor
    private let signals: UnixSignalsSequence

    /// Takes the signals from here on; those that come before `run` wait for it.
    init(monitor: PressureMonitor) async {
        self.monitor = monitor
        signals = await UnixSignalsSequence(trapping: .sigusr1, .sigusr2)
    }

    /// Hands signals on until the daemon shuts down.
    func run() async throws {
        for await signal in signals.cancelOnGracefulShutdown() {
            monitor.request(signal == .sigusr2 ? .critical : .warning, source: "\(signal)")
        }
    }
}

/// The level of memory pressure of the machine.
public enum MemoryPressure: Sendable, Hashable {
    case normal
    /// Applications should release values that are cheap to make again.
    case warning
    /// Applications should release everything they can.
    case critical
}

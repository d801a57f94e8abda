/// The author of a report of memory pressure.
enum PressureCause: Sendable, Hashable {
    /// A person or a script, by a signal or a call.
    case person
    /// The service manager, by a byte in the FIFO or socket that `$MEMORY_PRESSURE_WATCH` names.
    case serviceManager
    /// The daemon itself, which found the pressure in a file of the kernel.
    case daemon
}

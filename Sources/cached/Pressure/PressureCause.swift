/// The author of a report of memory pressure.
enum PressureCause: Sendable, Hashable {
    /// A person or a script, by a signal or a call.
    case person
    /// The service manager, by what it names in `$MEMORY_PRESSURE_WATCH`.
    case serviceManager
    /// The daemon itself, which found the pressure in a file of the kernel.
    case daemon
}

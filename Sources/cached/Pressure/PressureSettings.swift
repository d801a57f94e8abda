/// When the daemon believes that memory is short, and how often it gives some back.
struct PressureSettings: Sendable, Hashable {
    /// What makes each level; the first one has to work, or its source is passed over.
    var triggers: [PressureTrigger] = [.warning, .critical]

    /// The least time between two reactions to the same pressure.
    var coolDown: Duration = .seconds(10)
}

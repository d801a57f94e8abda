/// How short of memory or disk the machine is.
public enum PressureLevel: String, Codable, Sendable, Hashable, CaseIterable {
    /// Getting short: give back what is cheap to give back.
    case warning
    /// Out of it: give back all that can be.
    case critical
}

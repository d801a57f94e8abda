/// How short of memory the machine is.
public enum MemoryPressure: Sendable, Hashable {
    case normal
    /// Release what is cheap to replace.
    case warning
    /// Release everything that can be released.
    case critical
}

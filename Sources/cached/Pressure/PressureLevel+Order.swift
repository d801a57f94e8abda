public import CacheWire

/// Worse is more.
extension PressureLevel: Comparable {
    public static func < (left: PressureLevel, right: PressureLevel) -> Bool {
        left == .warning && right == .critical
    }
}

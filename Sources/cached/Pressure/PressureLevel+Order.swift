public import CacheWire

/// A worse level is greater.
extension PressureLevel: Comparable {
    public static func < (left: PressureLevel, right: PressureLevel) -> Bool {
        left == .warning && right == .critical
    }
}

public import CacheWire

/// A worse level is greater.
extension PressureLevel: Comparable {
    public static func < (left: PressureLevel, right: PressureLevel) -> Bool {
        left == .warning && right == .critical
    }
}

extension PressureLevel {
    /// The share of the cached bytes that is kept at this level, 0 to 1.
    var keptShare: Double {
        switch self {
        case .warning: 0.75
        case .critical: 0.5
        }
    }
}

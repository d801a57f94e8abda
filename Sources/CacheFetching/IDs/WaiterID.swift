/// Identifies one caller's request for a set of images. A later request has a higher number.
public struct WaiterID: Hashable, Comparable, Sendable {
    package let rawValue: UInt64

    public static func < (left: WaiterID, right: WaiterID) -> Bool {
        left.rawValue < right.rawValue
    }
}

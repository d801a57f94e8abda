/// The urgency of a download. A shared download is as urgent as its most urgent waiter.
public enum Priority: UInt8, Sendable, Comparable, CaseIterable {
    case background, normal, visible

    public static func < (left: Priority, right: Priority) -> Bool {
        left.rawValue < right.rawValue
    }
}

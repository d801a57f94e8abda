/// The urgency of a download. A shared download is as urgent as its most urgent waiter.
public enum Priority: UInt8, Sendable, Comparable, CaseIterable {
    case background, normal, visible

    public static func < (left: Priority, right: Priority) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The priorities, the most urgent first. A user's priorities decide only within one rank; prefetches wait for the
    /// downloads of all users.
    package static let ranks: [[Priority]] = [[.visible, .normal], [.background]]

    /// Its position among all priorities, from 0.
    package var index: Int { Int(rawValue) }
}

internal import ClientCore

/// The urgency of an image. A download has the highest priority of all its callers, in all programs.
public enum Priority: Int, Sendable, Comparable {
    /// No user waits for the image; for rows ahead of the visible ones.
    case background
    case normal
    /// A user is looking at the place for the image.
    case visible

    public static func < (left: Priority, right: Priority) -> Bool {
        left.rawValue < right.rawValue
    }

    var core: WantedPriority {
        switch self {
        case .background: .background
        case .normal: .normal
        case .visible: .visible
        }
    }
}

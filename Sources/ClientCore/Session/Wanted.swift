/// An image that the program wants.
struct Wanted {
    let url: [UInt8]
    var priority: WantedPriority
    var terms = WantTerms()
    /// Whether the last state is final: cached or failed.
    var isDecided = false
    /// The number of the last set that had the image; see ``Session/want(_:)``.
    var set: UInt32 = 0
}

/// The urgency of an image, with the values of the daemon's interface.
public enum WantedPriority: Int32, Sendable {
    case background, normal, visible

    var word: StaticString {
        switch self {
        case .background: "background"
        case .normal: "normal"
        case .visible: "visible"
        }
    }
}

/// An image that the program wants.
struct Wanted {
    let url: [UInt8]
    var priority: WantedPriority
    /// Whether its last state is one after which nothing else is expected.
    var isDecided = false
}

/// The urgency of an image, as the interface of the daemon has it.
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

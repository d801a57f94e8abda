import CacheWire

/// The order of the cached images in `top`.
enum CachedOrder: String, Hashable, CaseIterable {
    case newest
    case largest
    case unused = "least recently used"

    /// The order and direction of `List`.
    var wire: (order: ListOrder, reverse: Bool) {
        switch self {
        case .newest: (.age, true)
        case .largest: (.size, false)
        case .unused: (.recency, true)
        }
    }
}

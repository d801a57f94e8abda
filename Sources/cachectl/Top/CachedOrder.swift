import CacheWire

/// The order in which `top` shows what is cached.
enum CachedOrder: String, Hashable, CaseIterable {
    case newest
    case largest
    case unused = "least recently used"

    /// What the daemon calls it.
    var wire: (order: ListOrder, reverse: Bool) {
        switch self {
        case .newest: (.age, true)
        case .largest: (.size, false)
        case .unused: (.recency, true)
        }
    }
}

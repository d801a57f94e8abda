/// How far all is that is to do.
struct OverallProgress: Hashable {
    /// Downloads that ended, one way or the other.
    var finished: Int
    /// All that were begun.
    var total: Int
    /// From 0 to 1.
    var fraction: Double
    /// The latest of them.
    var label: String?
}

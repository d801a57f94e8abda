/// The progress of all downloads together.
struct OverallProgress: Hashable {
    /// Downloads that ended, whether they succeeded or failed.
    var finished: Int
    /// Downloads that were started.
    var total: Int
    /// From 0 to 1.
    var fraction: Double
    /// The URL of the most recent download.
    var label: String?
}

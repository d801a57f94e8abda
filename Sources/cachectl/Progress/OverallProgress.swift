/// The progress of all downloads together.
struct OverallProgress: Hashable {
    /// Downloads that ended, whether they succeeded or failed.
    var finished: Int
    /// Those of them that failed.
    var failed = 0
    /// Downloads that were started.
    var total: Int
    /// From 0 to 1.
    var fraction: Double
    /// Bytes a second of all downloads; `nil` if unknown.
    var bytesPerSecond: Double?
    /// Estimated seconds until all have ended; `nil` if unknown.
    var secondsLeft: Int?
    /// The URL of the most recent download.
    var label: String?
}

// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// Figures of the last 24 hours, one value of each for each time. A figure that did not change
/// is not repeated every minute.
public struct HistorySamples: WireValue {
    /// When they were taken, ascending.
    public var at: [Int]
    /// bytesUsed, entries, bytesReceived, hits, misses, published, failed, evicted and
    /// bytesEvicted, as in Stats. Counters begin at 0 when the daemon starts.
    public var figures: [String: [Int]]

    public init(
        at: [Int],
        figures: [String: [Int]]
    ) {
        self.at = at
        self.figures = figures
    }

    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("at", at)
            json.member("figures", figures)
        }
    }
}

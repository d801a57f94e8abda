import CacheWire

/// The state of one download as a screen shows it.
struct DownloadProgress: Hashable {
    let url: String
    /// The daemon's latest report; `nil` before the first.
    private(set) var item: Item?
    private(set) var rate = TransferRate()
    /// When the time of the next attempt was reported first.
    private var pauseBegan: Duration?

    init(url: String) {
        self.url = url
    }

    /// A download of which this is known.
    init(_ item: Item) {
        self.init(url: item.url)
        self.item = item
    }

    /// Applies the daemon's latest report. `now` counts from any fixed moment.
    mutating func changed(to item: Item, now: Duration) {
        if item.failure?.retryAt != self.item?.failure?.retryAt || pauseBegan == nil {
            pauseBegan = now
        }
        self.item = item
        if item.phase == .receiving { rate.sample(bytes: received, now: now) }
    }

    /// Updates the values that change with time alone.
    mutating func advanced(to now: Duration) {
        if item?.phase == .receiving { rate.waited(step: step, now: now) }
    }

    /// - Parameter now: the current time as a Unix second.
    func state(now: Int) -> ImageState {
        item.map { ImageState($0, now: now) } ?? .queued
    }

    /// Bytes received so far.
    var received: Int { max(0, item?.received ?? 0) }

    /// Expected bytes; `nil` while unknown.
    var total: Int? { item?.total.map { max(0, $0) } }

    var failure: Failure? { item?.failure }

    /// Seconds until the next attempt; `nil` if it has no time.
    func secondsToRetry(at time: LocalTime) -> Int? {
        failure?.retryAt.map { max(0, $0.saturatingSubtracting(time.unixSecond)) }
    }

    /// The part of the pause before the next attempt that is left, 1 to 0, as far as the pause was seen;
    /// `nil` when it is over.
    func pauseLeft(at time: LocalTime) -> Double? {
        guard let left = secondsToRetry(at: time), left > 0 else { return nil }
        let seen = pauseBegan.map { max(0, (time.elapsed - $0) / .seconds(1)) } ?? 0
        return Double(left) / (Double(left) + seen)
    }

    /// The URL, with the word `store` in the place of its host while the bytes come from the store
    /// that several machines share.
    var shownURL: String {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard isInFlight, item?.source == .store, parts.count == 4 else { return url }
        return "\(parts[0])//store/\(parts[3])"
    }

    /// The received fraction, 0 to 1; `nil` while the total is unknown.
    var fraction: Double? { Item.fraction(received, of: total) }

    /// The daemon reports progress each time this many bytes have arrived: 1 % of the total.
    private var step: Int { (total ?? received) / 100 }

    /// Estimated seconds until the download is complete; `nil` if unknown.
    var secondsLeft: Int? {
        guard let total, let rate = rate.bytesPerSecond, rate >= 1 else { return nil }
        return Int(saturating: (Double(max(0, total - received)) / rate).rounded(.up))
    }

    /// Also while the origin is asked about a cached image, or sends a newer version.
    var isInFlight: Bool { item?.isInFlight ?? false }

    /// Whether the image arrives now: its row is drawn with an animation.
    var isComing: Bool {
        switch item?.phase {
        case .connecting, .receiving, .deriving, .publishing: true
        case .queued, .retrying, nil: false
        }
    }
}

extension Item {
    var isInFlight: Bool { state == .inFlight || (state == .cached && phase != nil) }

    /// Why the last attempt failed, if nothing is in flight.
    var lastFailure: Failure? { isInFlight ? nil : failure }

    /// The received fraction, 0 to 1; `nil` while the total is unknown.
    var fraction: Double? { Self.fraction(received ?? 0, of: total) }

    static func fraction(_ received: Int, of total: Int?) -> Double? {
        guard let total, total > 0 else { return nil }
        return max(0, min(1, Double(received) / Double(total)))
    }
}

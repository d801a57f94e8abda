import CacheWire

/// The state of one download as a screen shows it.
struct DownloadProgress: Hashable {
    enum Stage: Hashable {
        /// The daemon has not reported the download yet.
        case unknown
        case inFlight(Item.Phase)
        /// The download failed.
        case failed(Failure)
        /// There is nothing to draw: the image is cached, or the download is no longer wanted.
        case finished
    }

    let url: String
    private(set) var stage = Stage.unknown
    /// Bytes received so far.
    private(set) var received = 0
    /// Expected bytes; `nil` while unknown.
    private(set) var total: Int?
    /// Why the previous attempt failed.
    private(set) var failure: Failure?
    private(set) var rate = TransferRate()
    /// Whether the bytes come from the store that several machines share.
    private(set) var isFromStore = false

    init(url: String) {
        self.url = url
    }

    /// Applies the daemon's latest report. `now` counts from any fixed moment.
    mutating func changed(to item: Item, now: Duration) {
        stage = Stage(item)
        failure = item.failure
        guard case .inFlight(let phase) = stage else { return }
        isFromStore = item.source == .store
        received = max(0, item.received ?? 0)
        total = item.total.map { max(0, $0) }
        if phase == .receiving { rate.sample(bytes: received, now: now) }
    }

    /// The URL, with the word `store` in the place of its host while the bytes come from there.
    var shownURL: String {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard isFromStore, parts.count == 4 else { return url }
        return "\(parts[0])//store/\(parts[3])"
    }

    /// Marks the download as failed.
    mutating func failed(_ failure: Failure) {
        stage = .failed(failure)
    }

    /// Updates the values that change with time alone.
    mutating func advanced(to now: Duration) {
        if stage == .inFlight(.receiving) { rate.waited(step: step, now: now) }
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

    /// Whether the download is drawn with an animation.
    var isMoving: Bool {
        switch stage {
        case .unknown, .inFlight: true
        case .failed, .finished: false
        }
    }
}

extension Item {
    /// The received fraction, 0 to 1; `nil` while the total is unknown.
    var fraction: Double? { Self.fraction(received ?? 0, of: total) }

    static func fraction(_ received: Int, of total: Int?) -> Double? {
        guard let total, total > 0 else { return nil }
        return max(0, min(1, Double(received) / Double(total)))
    }
}

extension DownloadProgress.Stage {
    init(_ item: Item) {
        switch (item.state, item.phase, item.failure) {
        case (.inFlight, let phase, _): self = .inFlight(phase ?? .receiving)
        // The origin is being asked about the image, or is sending a newer version.
        case (.cached, let phase?, _): self = .inFlight(phase)
        case (.missing, _, let failure?): self = .failed(failure)
        case (.missing, _, nil), (.cached, nil, _): self = .finished
        }
    }
}

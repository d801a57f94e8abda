import CacheWire

/// One download as a screen knows it.
struct Download: Hashable {
    enum Stage: Hashable {
        /// Nothing was heard of it yet.
        case unknown
        case inFlight(Item.Phase)
        /// It ended, and why.
        case failed(Failure)
        /// There is nothing to draw: the image is here, or nobody wants it any more.
        case finished
    }

    let url: String
    private(set) var stage = Stage.unknown
    /// Bytes so far.
    private(set) var received = 0
    /// Bytes expected, `nil` while unknown.
    private(set) var total: Int?
    /// Why the attempt before failed.
    private(set) var failure: Failure?
    private(set) var rate = TransferRate()

    init(url: String) {
        self.url = url
    }

    /// Takes in what the daemon says about it; `now` counts from any one moment.
    mutating func changed(to item: Item, now: Duration) {
        stage = Stage(item)
        failure = item.failure
        guard case .inFlight(let phase) = stage else { return }
        received = item.received ?? 0
        total = item.total
        if phase == .receiving { rate.sample(bytes: received, now: now) }
    }

    /// It ended without an image.
    mutating func failed(_ failure: Failure) {
        stage = .failed(failure)
    }

    /// The time has come to here, whether anything was heard or not.
    mutating func advanced(to now: Duration) {
        if stage == .inFlight(.receiving) { rate.waited(step: step, now: now) }
    }

    /// Received of total from 0 to 1, `nil` while the total is unknown.
    var fraction: Double? { Item.fraction(received, of: total) }

    /// The bytes after which the daemon tells of them: 1 % of all, as far as that is known.
    private var step: Int { (total ?? received) / 100 }

    /// Seconds until all bytes are here at the present rate, `nil` while nobody knows.
    var secondsLeft: Int? {
        guard let total, let rate = rate.bytesPerSecond, rate >= 1 else { return nil }
        return Int((Double(max(0, total - received)) / rate).rounded(.up))
    }

    /// Whether it looks different from moment to moment.
    var isMoving: Bool {
        switch stage {
        case .unknown, .inFlight: true
        case .failed, .finished: false
        }
    }
}

extension Item {
    /// Received of total from 0 to 1, `nil` while the total is unknown.
    var fraction: Double? { Self.fraction(received ?? 0, of: total) }

    static func fraction(_ received: Int, of total: Int?) -> Double? {
        guard let total, total > 0 else { return nil }
        return min(1, Double(received) / Double(total))
    }
}

extension Download.Stage {
    init(_ item: Item) {
        switch (item.state, item.phase, item.failure) {
        case (.inFlight, let phase, _): self = .inFlight(phase ?? .receiving)
        // The origin is asked about it, or sends a newer version.
        case (.cached, let phase?, _): self = .inFlight(phase)
        case (.missing, _, let failure?): self = .failed(failure)
        case (.missing, _, nil), (.cached, nil, _): self = .finished
        }
    }
}

package import CacheKey

/// One download, shared by all who want it.
///
///                     ┌──────────── preempted, or no space now ───────────┐
///                     ▼                                                   │
///     queued ──▶ connecting ──▶ receiving ──▶ publishing ──▶ (entry)      │
///       ▲             │             │              │                      │
///       │             ├─────────────┴── fails ──▶ retrying ──▶ queued     │
///       │             └── confirmed (304) ──▶ publishing                  │
///       └── its file was lost while publishing ────┘
///
/// A download that nobody wants any more ends, in every phase but publishing.
package struct Flight: Sendable {
    package private(set) var id: FlightID
    package let url: CacheURL
    package let origin: Origin
    package private(set) var state = State.queued

    /// Callers that wait; each hears of the end once.
    package var waiters: Set<WaiterID> = []
    /// Set if the daemon itself waits, so that the download goes on without a caller.
    package var detached: Detached?
    /// Whether the image will be pinned when it is published; `nil` if nobody asked.
    package var isPinned: Bool?
    /// What the watch reported about its names.
    package var observer = PublishObserver()
    /// Attempts begun.
    package private(set) var attempts = 0
    /// Why the last attempt failed, and when the next one is.
    package private(set) var failure: Failure?
    /// Its file was lost while it was published, and it is downloaded for the second time.
    package private(set) var wasLost = false

    package enum State: Sendable {
        /// Waits for a transfer slot, or for space.
        case queued
        /// Has a slot; the response has not begun.
        case connecting(Intake)
        /// Bytes of the body arrive.
        case receiving(Intake)
        /// Pauses until then, by the clock that never jumps.
        case retrying(until: ContinuousClock.Instant)
        /// The image, or what the origin confirmed, is being made durable.
        case publishing(Intake, isUnwanted: Bool)
    }

    /// What has arrived, and what was set aside for it.
    package struct Intake: Sendable {
        /// Bytes of the image so far.
        var received: Int64 = 0
        /// Bytes of the whole image, once the origin said.
        var total: Int64?
        /// Bytes at the last announced change.
        var announced: Int64 = 0
        /// Bytes of the disk set aside.
        var reserved: Int64 = 0
    }

    /// The daemon's own wait.
    package struct Detached: Sendable {
        var priority = Priority.background
        /// On whose behalf.
        var client = ClientID.daemon
    }

    package init(id: FlightID, url: CacheURL) {
        (self.id, self.url) = (id, url)
        origin = Origin(url)
    }

    // MARK: What it is doing

    package var phase: Phase {
        switch state {
        case .queued: .queued
        case .connecting: .connecting
        case .receiving: .receiving
        case .retrying: .retrying
        case .publishing: .publishing
        }
    }

    /// Nothing before it has a slot.
    package var intake: Intake {
        switch state {
        case .queued, .retrying: Intake()
        case .connecting(let intake), .receiving(let intake), .publishing(let intake, _): intake
        }
    }

    package var isWanted: Bool { detached != nil || !waiters.isEmpty }

    package var isPublishing: Bool { if case .publishing = state { true } else { false } }

    /// Removed while being published: the file is unlinked as soon as it has its name.
    package var isUnwanted: Bool { if case .publishing(_, true) = state { true } else { false } }

    /// Whether it has a reservation, and so writes its partial or is about to.
    package var hasSpace: Bool { intake.reserved > 0 }

    package func progress(isAnnounced: Bool = false) -> Progress {
        let intake = intake
        return Progress(
            phase: phase, received: isAnnounced ? intake.announced : intake.received,
            total: intake.total, isPinned: isPinned, failure: failure)
    }

    // MARK: Transitions

    /// Takes a slot and begins another attempt.
    package mutating func connects() {
        guard case .queued = state else { impossible("connect") }
        state = .connecting(Intake())
        attempts += 1
    }

    /// Starts, or starts over, with bytes that a partial already has.
    package mutating func begins(with received: Int64, of total: Int64?) {
        change { intake in
            (intake.received, intake.announced, intake.total) = (received, received, total)
        }
    }

    /// The response began, or more of the body arrived. Whether that is worth an announcement.
    package mutating func receives(_ received: Int64, of total: Int64?) -> Bool {
        guard phase.isRunning else { impossible("receive") }
        var intake = intake
        let isNews =
            phase != .receiving || intake.total != total
            || (received - intake.announced) * 100 >= (total ?? received)
        (intake.received, intake.total) = (received, total)
        if isNews { intake.announced = received }
        state = .receiving(intake)
        return isNews
    }

    /// Bytes of the disk were set aside.
    package mutating func reserves(_ bytes: Int64) { change { $0.reserved += bytes } }

    private mutating func change(_ body: (inout Intake) -> Void) {
        switch state {
        case .connecting(var intake):
            body(&intake)
            state = .connecting(intake)
        case .receiving(var intake):
            body(&intake)
            state = .receiving(intake)
        case .queued, .retrying, .publishing: impossible("change what it received")
        }
    }

    /// All of the image is here, or the origin confirmed the entry.
    package mutating func publishes(losses: Int) {
        guard phase.isRunning else { impossible("be published") }
        var intake = intake
        intake.announced = intake.received
        state = .publishing(intake, isUnwanted: false)
        observer.publishingBegan(losses: losses)
    }

    /// Was removed while being published, or is wanted again.
    package mutating func setUnwanted(_ isUnwanted: Bool) {
        guard case .publishing(let intake, _) = state else { return }
        state = .publishing(intake, isUnwanted: isUnwanted)
    }

    /// The attempt failed; the next one follows a pause.
    package mutating func pauses(until end: ContinuousClock.Instant, _ failure: Failure) {
        guard phase.isRunning else { impossible("pause") }
        state = .retrying(until: end)
        self.failure = failure
    }

    /// The pause is over.
    package mutating func resumes() {
        guard case .retrying = state else { impossible("resume") }
        becomeQueued()
    }

    /// Was told to stop, for others or for want of space; did not fail.
    ///
    /// - Parameter id: a new one, so that late events of the stopped transfer are recognised.
    package mutating func restarts(as id: FlightID) {
        guard phase.isRunning else { impossible("restart") }
        self.id = id
        attempts -= 1
        becomeQueued()
    }

    /// What was being published, or asked about, is gone.
    package mutating func isLost() {
        guard isPublishing else { impossible("be lost") }
        wasLost = true
        becomeQueued()
    }

    /// Those who wait keep as many attempts as they had.
    package mutating func addAttempt() { attempts -= 1 }

    private mutating func becomeQueued() {
        state = .queued
        failure = failure?.retrying(at: nil)
    }

    private func impossible(_ event: String) -> Never {
        preconditionFailure("download \(id.rawValue) cannot \(event) while \(phase)")
    }
}

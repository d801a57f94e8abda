package import CacheKey
package import CacheValues
package import ImageFormats

/// One download, shared by all callers that want its image.
///
///                     ┌──────────── preempted, or no space now ───────────┐
///                     ▼                                                   │
///     queued ──▶ connecting ──▶ receiving ──▶ publishing ──▶ (entry)      │
///       ▲             │             │              │                      │
///       ├── refused by its host ────┤              │                      │
///       │             ├─────────────┴── fails ──▶ retrying ──▶ queued     │
///       │             └── confirmed (304) ──▶ publishing                  │
///       └── its file was lost while publishing ────┘
///
/// With a store, a new download begins before all of this: `waitingForStore`, then `asking`, which leads to `publishing`
/// if the store has the image, and otherwise to `queued`. With its slot it may claim the image there, again `asking`.
///
/// A derived image has no transfer: `awaitingOriginal`, then `deriving`, which leads to `publishing`.
///
/// A download that no caller wants any more ends, in every phase except publishing.
package struct Flight: Sendable {
    package private(set) var id: FlightID
    /// The URL to download from: of those that callers gave, the newest when the attempt began.
    package private(set) var url: CacheURL
    /// The origin of the URL, whose limit counts.
    package private(set) var origin: Origin
    /// The URL by which the image is known.
    package let name: CacheURL
    /// The header fields of an account that a caller gave with the URL. They are nowhere else, and end with the download.
    package private(set) var fields: [RequestField]
    /// The URL and the fields for the next attempt, if a caller gave others during this one.
    private var next: (url: CacheURL, fields: [RequestField])?
    /// Other URLs of the image that callers gave, and those that have failed for good. `nil` if there never were any.
    private var others: (rest: [CacheURL], tried: [CacheURL])?
    package private(set) var state = State.queued

    /// Callers that wait. Each is notified of the end once.
    package var waiters: Set<WaiterID> = []
    /// Set if the daemon itself waits, so that the download continues without a caller.
    package var detached: Detached?
    /// Whether the image will be pinned when it is published. `nil` if no caller asked for either.
    package var isPinned: Bool?
    /// The changes that the watch reported for the names of this download.
    package var observer = PublishObserver()
    /// The number of attempts begun.
    package private(set) var attempts = 0
    /// The reason why the last attempt failed, and the time of the next one.
    package private(set) var failure: Failure?
    /// Whether only programs in sandboxes wanted the image when the last attempt began.
    package private(set) var isForGuests = false
    /// Whether its file was lost during publication, so that this is the second download of the image.
    package private(set) var wasLost = false

    /// The wait for the original of a derived image. `nil` unless its original is asked for.
    package var wait: OriginalWait?

    /// Where the bytes come from, as far as that is decided.
    package private(set) var source = ImageSource.origin
    /// Whether a shared cache may keep the image, as the response that brought or confirmed it says.
    package var isShareable = false
    /// Seconds for which the origin's confirmation makes the entry fresh.
    package var confirmedLifetime: Int64 = 0
    /// How the image that came from the store may be used.
    package var storeReuse = Reuse.fresh
    /// The store's answer about the key. `nil` if it was not asked.
    package private(set) var storeFinding: StoreFinding?
    /// Since when the download has waited for another machine to bring the image to the store.
    package private(set) var awaitedSince: ContinuousClock.Instant?
    /// The question to the store that was not answered in time. Its answer still counts if it comes before the origin's.
    package private(set) var late: FlightID?

    package enum State: Sendable {
        /// The download waits for its turn to ask the store.
        case waitingForStore
        /// The store is asked.
        case asking(Intake, isReceiving: Bool)
        /// Another machine downloads the image. The store is asked again then.
        case waitingForOthers(until: ContinuousClock.Instant)
        /// The image is to be derived from another one, which is looked for or downloaded.
        case awaitingOriginal
        /// The image is being derived from another one.
        case deriving(Intake)
        /// The download waits for a transfer slot or for space.
        case queued
        /// The download has a slot. The response has not begun.
        case connecting(Intake)
        /// Bytes of the body arrive.
        case receiving(Intake)
        /// The download pauses until this instant of the clock that never jumps.
        case retrying(until: ContinuousClock.Instant)
        /// The image, or the origin's confirmation, is being made durable.
        case publishing(Intake, isRemovalPending: Bool)
    }

    /// The bytes that have arrived.
    package struct Intake: Sendable {
        /// Bytes of the image received so far.
        var received: Int64 = 0
        /// Bytes of the whole image. `nil` until the origin gives the length.
        var total: Int64?
        /// The type and dimensions that the first bytes show. `nil` until they show any.
        var shape: ImageShape?
        /// Bytes received at the last announced change.
        var announced: Int64 = 0
    }

    /// The daemon's own wait.
    package struct Detached: Sendable {
        var priority = Priority.background
        /// The client that the download is for.
        var client = ClientID.daemon
    }

    package init(
        id: FlightID, url: CacheURL, name: CacheURL, fields: [RequestField] = []
    ) {
        (self.id, self.url, self.name, origin) = (id, url, name, Origin(url))
        self.fields = fields
    }

    /// A caller gave another URL of the image, or other fields. They count from the next attempt on.
    package mutating func renews(_ url: CacheURL, _ fields: [RequestField]) {
        next = (url, fields)
        if isQueued { takeNextURL() }
    }

    /// A caller gave other URLs of the image. Each is asked once.
    package mutating func knows(_ also: [CacheURL]) {
        for url in also where url != self.url && !hasTried(url) {
            if others?.rest.contains(url) != true { others = (rest + [url], others?.tried ?? []) }
        }
    }

    private var rest: [CacheURL] { others?.rest ?? [] }

    /// Whether a URL has failed for good, while another one was known.
    package func hasTried(_ url: CacheURL) -> Bool { others?.tried.contains(url) == true }

    private mutating func takeNextURL() {
        guard let next else { return }
        (url, origin, fields) = (next.url, Origin(next.url), next.fields)
        self.next = nil
    }

    /// Whether a caller gave another URL or other fields that were not tried.
    package var hasAnotherURL: Bool { next != nil || !rest.isEmpty }

    // MARK: Current state

    package var phase: Phase {
        switch state {
        case .queued, .waitingForStore, .waitingForOthers, .awaitingOriginal: .queued
        case .deriving: .deriving
        case .asking(_, let isReceiving): isReceiving ? .receiving : .connecting
        case .connecting: .connecting
        case .receiving: .receiving
        case .retrying: .retrying
        case .publishing: .publishing
        }
    }

    /// The bytes of the download. All zero while it has no slot.
    package var intake: Intake {
        switch state {
        case .queued, .waitingForStore, .waitingForOthers, .retrying, .awaitingOriginal: Intake()
        case .asking(let intake, _), .connecting(let intake), .receiving(let intake),
            .deriving(let intake), .publishing(let intake, _):
            intake
        }
    }

    /// Whether the store was found to have an object for the image.
    package var isKnownToStore: Bool { storeFinding == .stale || hasClaim }

    /// Whether other machines wait for this download.
    package var hasClaim: Bool { storeFinding == .claimed }

    /// Whether the download waits in the queue of the scheduler.
    package var isQueued: Bool { if case .queued = state { true } else { false } }

    /// Whether the download waits for another machine to bring the image to the store.
    package var waitsForOthers: Bool { if case .waitingForOthers = state { true } else { false } }

    /// Whether the download waits for its turn to ask the store.
    package var waitsForStore: Bool { if case .waitingForStore = state { true } else { false } }

    /// Whether the store is asked.
    package var isAsking: Bool { if case .asking = state { true } else { false } }

    /// Whether the image is to be derived from another one that is not there yet.
    package var awaitsOriginal: Bool { if case .awaitingOriginal = state { true } else { false } }

    /// Whether the image is being derived from another one.
    package var isDeriving: Bool { if case .deriving = state { true } else { false } }

    /// Whether the download has a slot of the scheduler.
    package var hasSlot: Bool {
        switch state {
        case .connecting, .receiving: true
        case .queued, .waitingForStore, .asking, .waitingForOthers, .retrying, .publishing,
            .awaitingOriginal, .deriving:
            false
        }
    }

    package var isWanted: Bool { detached != nil || !waiters.isEmpty }

    package var isPublishing: Bool { if case .publishing = state { true } else { false } }

    /// Whether the image was removed during publication. Its file is then unlinked once it is published.
    package var isRemovalPending: Bool {
        if case .publishing(_, true) = state { true } else { false }
    }

    package func progress(isAnnounced: Bool = false) -> Progress {
        let intake = intake
        return Progress(
            phase: phase, received: isAnnounced ? intake.announced : intake.received,
            total: intake.total, shape: intake.shape, isPinned: isPinned, failure: failure,
            source: source)
    }

    // MARK: Transitions

    /// The store is asked before the origin.
    package mutating func willAskStore() {
        guard isQueued else { impossible("ask the store") }
        (state, source) = (.waitingForStore, .store)
    }

    /// Its turn to ask the store has come, or that to tell it that this machine downloads the image.
    package mutating func asksStore() {
        guard waitsForStore || isQueued else { impossible("ask the store") }
        (state, source) = (.asking(Intake(), isReceiving: false), .store)
    }

    /// The store has no usable image, so the origin is asked.
    ///
    /// - Parameter next: a new identifier if the store may still answer. The question keeps the old one.
    package mutating func leavesStore(_ finding: StoreFinding?, beside next: FlightID? = nil) {
        guard waitsForStore || isAsking else { impossible("leave the store") }
        storeFinding = finding
        if let next { (late, id) = (id, next) }
        becomeQueued()
    }

    /// Whether the store's late answer counts: the origin has not begun to answer.
    package var takesLateAnswer: Bool {
        switch state {
        case .queued, .connecting, .retrying, .waitingForOthers: late != nil
        default: false
        }
    }

    /// The store's late answer has come before the origin's.
    package mutating func returnsToStore() {
        guard takesLateAnswer, let late else { impossible("return to the store") }
        (id, state, source) = (late, .asking(Intake(), isReceiving: false), .store)
        self.late = nil
    }

    /// Waits until other machines may have brought the image to the store.
    package mutating func waitsForOthers(
        from start: ContinuousClock.Instant, until end: ContinuousClock.Instant
    ) {
        guard isQueued else { impossible("wait for others") }
        state = .waitingForOthers(until: end)
        awaitedSince = awaitedSince ?? start
    }

    /// The wait for others is over.
    package mutating func endsWaitForOthers() {
        guard waitsForOthers else { impossible("end its wait for others") }
        becomeQueued()
    }

    /// The image of the store is published, but some callers need the origin's answer.
    package mutating func asksOriginToo() {
        guard isPublishing else { impossible("ask its origin") }
        storeFinding = .stale
        becomeQueued()
    }

    /// The image is derived from another one, which is looked for first.
    package mutating func awaitsItsOriginal() {
        guard isQueued || hasSlot else { impossible("await its original") }
        (state, wait) = (.awaitingOriginal, OriginalWait())
    }

    /// The image that this one is derived from is there.
    package mutating func derives() {
        guard awaitsOriginal else { impossible("be derived") }
        state = .deriving(Intake())
    }

    /// Takes a slot and begins another attempt.
    package mutating func connects(forGuests isForGuests: Bool = false) {
        guard case .queued = state else { impossible("connect") }
        (state, self.isForGuests) = (.connecting(Intake()), isForGuests)
        attempts += 1
    }

    /// Starts, or starts over, with the bytes that a partial already has.
    package mutating func begins(with received: Int64, of total: Int64?) {
        change { intake in
            (intake.received, intake.announced, intake.total) = (received, received, total)
        }
    }

    /// The response began, or more of the body arrived. Returns whether that is worth an announcement.
    package mutating func receives(_ received: Int64, of total: Int64?, _ shape: ImageShape?)
        -> Bool
    {
        guard phase.isRunning else { impossible("receive") }
        var intake = intake
        let isNews =
            phase != .receiving || intake.total != total || intake.shape != shape
            || (received - intake.announced) * 100 >= (total ?? received)
        (intake.received, intake.total, intake.shape) = (received, total, shape)
        if isNews { intake.announced = received }
        state =
            isAsking
            ? .asking(intake, isReceiving: true)
            : isDeriving ? .deriving(intake) : .receiving(intake)
        return isNews
    }

    private mutating func change(_ body: (inout Intake) -> Void) {
        switch state {
        case .connecting(var intake):
            body(&intake)
            state = .connecting(intake)
        case .receiving(var intake):
            body(&intake)
            state = .receiving(intake)
        case .asking(var intake, let isReceiving):
            body(&intake)
            state = .asking(intake, isReceiving: isReceiving)
        case .deriving(var intake):
            body(&intake)
            state = .deriving(intake)
        case .queued, .waitingForStore, .waitingForOthers, .retrying, .publishing,
            .awaitingOriginal:
            impossible("change its received bytes")
        }
    }

    /// The whole image has arrived, or the origin confirmed the entry.
    package mutating func publishes(losses: Int) {
        guard phase.isRunning else { impossible("be published") }
        var intake = intake
        intake.announced = intake.received
        state = .publishing(intake, isRemovalPending: false)
        observer.publishingBegan(losses: losses)
    }

    /// The bytes of the image may be those of an entry, so there may be nothing to download.
    package mutating func adopts(losses: Int) {
        guard case .queued = state else { impossible("adopt an entry's bytes") }
        state = .publishing(Intake(), isRemovalPending: false)
        observer.publishingBegan(losses: losses)
    }

    /// No entry has the bytes of the image.
    package mutating func becomesDownload() {
        guard isPublishing else { impossible("become a download") }
        becomeQueued()
    }

    /// The image was removed during publication, or is wanted again.
    package mutating func setRemovalPending(_ isRemovalPending: Bool) {
        guard case .publishing(let intake, _) = state else { return }
        state = .publishing(intake, isRemovalPending: isRemovalPending)
    }

    /// The attempt failed. A retry follows after a pause.
    ///
    /// - Parameter spendsAttempt: whether the attempt counts. It does unless it brought part of the image.
    package mutating func pauses(
        until end: ContinuousClock.Instant, _ failure: Failure, spendsAttempt: Bool
    ) {
        guard phase.isRunning else { impossible("pause") }
        if !spendsAttempt { attempts -= 1 }
        state = .retrying(until: end)
        self.failure = failure
    }

    /// The host refused the attempt. The download waits until the host may be asked again.
    ///
    /// - Parameter spendsAttempt: whether the attempt counts. It does if no other download disturbed it.
    package mutating func isRefused(_ refusal: Failure, spendsAttempt: Bool) {
        guard phase.isRunning else { impossible("be refused") }
        if !spendsAttempt { attempts -= 1 }
        state = .queued
        failure = refusal
    }

    /// The URL has failed for good. The next one begins with all attempts.
    package mutating func asksAnotherURL() {
        guard phase.isRunning, hasAnotherURL else { impossible("ask another URL") }
        if next == nil { next = (rest[0], []) }
        others = (rest.filter { $0 != next?.url }, (others?.tried ?? []) + [url])
        attempts = 0
        becomeQueued()
    }

    /// The pause has ended.
    package mutating func resumes() {
        guard case .retrying = state else { impossible("resume") }
        becomeQueued()
    }

    /// The download was stopped for another download or because there was no space. That is not a
    /// failure.
    ///
    /// - Parameter id: a new identifier, so that late events of the stopped transfer are recognised.
    package mutating func restarts(as id: FlightID) {
        guard phase.isRunning else { impossible("restart") }
        self.id = id
        if hasSlot { attempts -= 1 }
        becomeQueued()
    }

    /// The image being published, or the entry being confirmed, is gone.
    package mutating func requeuesAfterLoss() {
        guard isPublishing else { impossible("be lost") }
        wasLost = true
        becomeQueued()
    }

    /// Adds an attempt, so that the callers that already wait keep their remaining attempts.
    package mutating func grantExtraAttempt() { attempts -= 1 }

    private mutating func becomeQueued() {
        state = .queued
        source = .origin
        takeNextURL()
        failure = failure?.retrying(at: nil)
    }

    private func impossible(_ event: String) -> Never {
        preconditionFailure("download \(id.rawValue) cannot \(event) while \(phase)")
    }
}

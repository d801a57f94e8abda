internal import CacheKey

/// Names one download; a later one of the same key has another.
struct FlightID: Hashable, Sendable {
    let rawValue: UInt64
}

/// Names a client: whoever downloads are shared out between fairly.
public struct ClientID: Hashable, Sendable {
    let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The daemon itself, and everybody within its process.
    public static let daemon = ClientID(rawValue: 0)
}

/// Names one caller's wish for a set of images; a later one has the higher number.
public struct WaiterID: Hashable, Comparable, Sendable {
    let rawValue: UInt64

    public static func < (left: WaiterID, right: WaiterID) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// How urgent a download is. A shared one is as urgent as the most urgent of those who still wait.
public enum Priority: UInt8, Sendable, Comparable, CaseIterable {
    case background, normal, visible

    public static func < (left: Priority, right: Priority) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// What a download is doing.
public enum Phase: Sendable {
    /// Waits for a free transfer.
    case queued
    /// Resolving, connecting, waiting for the response to begin.
    case connecting
    /// Bytes arrive in `NAME.part`.
    case receiving
    /// Failed, and pauses before it is tried again. Holds nothing meanwhile: no transfer, no room.
    case retrying
    /// Checked; being made durable under its name.
    case publishing

    /// Whether the transfer loop has it.
    var isRunning: Bool { self == .connecting || self == .receiving }
}

/// One download, shared by all who want it.
struct Flight {
    var id: FlightID
    let url: CacheURL
    let origin: Origin
    var phase = Phase.queued
    /// Bytes of the image so far.
    var received: Int64 = 0
    /// Bytes of the whole image, once the origin said.
    var total: Int64?
    /// Those who wait; each hears of the end once.
    var waiters: Set<WaiterID> = []
    /// Goes on with nobody waiting, because a caller asked for that.
    var isDetached = false
    /// How urgent that is, and on whose behalf.
    var detachedPriority = Priority.background
    var detachedClient = ClientID.daemon
    /// Removed while being published: what lands under the name goes at once.
    var isUnwanted = false
    /// Bytes at the last announced change.
    var announced: Int64 = 0
    /// Bytes of the disk set aside for it.
    var reserved: Int64 = 0
    /// Whether it will be pinned, where a person said so while it was on its way.
    var isPinned: Bool?
    /// What was seen of its name since publishing began.
    var landing = PublishObserver()
    /// Gave back the room it had once, and gets none again beside others.
    var needsAllRoom = false

    /// How often it stopped for what is visible.
    var preemptions = 0
    /// Bytes when prefetches were looked at last, and whether none had come since the look before.
    var receivedAtLook: Int64?
    var isStalled = false

    /// Was lost with others when it was about to be an entry, and is on its way once more.
    var wasLost = false

    /// Attempts begun.
    var attempts = 0
    /// Why the last attempt failed, and when the next one is.
    var failure: Failure?
    /// When the latest pause is over, to the clock that never jumps.
    var pausesUntil: ContinuousClock.Instant?

    init(id: FlightID, url: CacheURL) {
        (self.id, self.url) = (id, url)
        origin = Origin(url)
    }

    /// Whether its partial is being written, or about to be.
    var hasRoom: Bool { reserved > 0 }

    /// Takes in what the watch tells of the name of its partial; `false` where it has none.
    mutating func notesPartial(_ change: DirectoryWatch.Change) -> Bool {
        landing.note(change)
        return hasRoom
    }

    var isWanted: Bool { isDetached || !waiters.isEmpty }

    /// Begins another attempt.
    mutating func connects() {
        phase = .connecting
        attempts += 1
    }

    /// All of the image is here.
    mutating func publishes(_ losses: Int) {
        phase = .publishing
        landing.begins(losses)
        announced = received
    }

    /// Holds nothing and has nothing of the image, as before it began.
    mutating func becomeUnbegun() {
        received = 0
        total = nil
        announced = 0
        reserved = 0
        receivedAtLook = nil
        isStalled = false
    }

    var progress: Progress {
        Progress(
            phase: phase, received: received, total: total, isPinned: isPinned, failure: failure)
    }

    /// The same when it was last announced.
    var announcedProgress: Progress {
        Progress(
            phase: phase, received: announced, total: total, isPinned: isPinned, failure: failure)
    }
}

/// What the watch tells of a name while an image is published under it. That it is given its first name is
/// seen once, and nothing more: whatever is seen besides is somebody else's doing. Renaming proves nothing:
/// the kernel makes one event of the cache's and of a stranger's right behind it. inotify(7)
struct PublishObserver {
    /// How often changes had been lost when it began: since then nothing may have gone unseen.
    private var losses = 0
    private var created = 0
    private var others = 0
    /// There was a partial at some time of the download, whoever made it.
    private var hadPartial = false
    /// Its partial has another name now; what appears under the old one is a stranger's.
    private var isPartialGone = false
    private var isPartialBack = false

    mutating func begins(_ losses: Int) {
        let hadPartial = hadPartial
        self = PublishObserver()
        (self.losses, self.hadPartial) = (losses, hadPartial)
    }

    /// Whether nobody but the cache was seen, and nobody can have been missed.
    func isUndisturbed(losses: Int) -> Bool {
        created == 1 && others == 0 && !hadPartial && self.losses == losses
    }

    /// Whether there is certainly no partial any more.
    func leavesNoPartial(losses: Int) -> Bool {
        (isPartialGone ? !isPartialBack : !hadPartial) && self.losses == losses
    }

    mutating func note(_ change: DirectoryWatch.Change) {
        switch change {
        case .created: created += 1
        case .partialVanished: isPartialGone = true
        case .partialChanged:
            hadPartial = true
            isPartialBack = isPartialGone
        default: others += 1
        }
    }
}

/// How far a download is.
public struct Progress: Hashable, Sendable {
    public let phase: Phase
    /// Bytes received.
    public let received: Int64
    /// Bytes the origin promised, if it did.
    public let total: Int64?
    /// Whether it will be pinned when it lands, where somebody said so.
    public var isPinned: Bool?
    /// Why the attempt before failed, if one did.
    public var failure: Failure?

    /// 0 to 100 where the total is known.
    public var percent: Double? {
        guard let total, total > 0 else { return nil }
        return Double(received) * 100 / Double(total)
    }
}

/// One caller's wish for a set of images, until all of them are decided.
struct Waiter {
    let client: ClientID
    let priority: Priority
    /// Those not decided yet.
    var pending: Set<CacheKey> = []
    /// Why some could not be had.
    var failures: [CacheKey: Failure] = [:]
    /// Those it waited for that are an answer to nobody else: stale as soon as they are there, or not to be
    /// kept, which they are until the caller hears of all.
    var noStoreGrace: Set<CacheKey> = []
    /// Those it has, and whoever takes its place need not ask for.
    var delivered: Set<CacheKey> = []
    /// Wants the origin's word: what it could not confirm is a failure.
    var isRefresh = false
    /// All wanted keys are named; before that an empty `pending` means nothing.
    var isComplete = false
}

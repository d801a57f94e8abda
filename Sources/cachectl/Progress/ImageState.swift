import CacheWire

/// The state of an image. Every program that shows the cache to a person knows the same twelve;
/// `docs/lookup/states.md` explains them.
enum ImageState: String, CaseIterable {
    case queued, connecting, receiving, unmeasured, deriving, publishing, retrying
    case failed, cached, stale, pinned, gone

    /// - Parameter now: the current time as a Unix second.
    init(_ item: Item, now: Int) {
        let phase: Item.Phase? = item.phase ?? (item.state == .inFlight ? .receiving : nil)
        switch phase {
        // A queued download whose host is asked nothing until then waits for a time, not for a slot.
        case .queued: self = item.failure?.retryAt.map { $0 > now } == true ? .retrying : .queued
        case .connecting: self = .connecting
        case .receiving: self = item.fraction == nil ? .unmeasured : .receiving
        case .deriving: self = .deriving
        case .publishing: self = .publishing
        case .retrying: self = .retrying
        case nil where item.state == .cached: self = .cached
        case nil: self = item.failure == nil || item.failure?.kind == "removed" ? .gone : .failed
        }
    }

    /// The marks on a cached image.
    static func marks(of item: Item, now: Int) -> [ImageState] {
        guard item.state == .cached else { return [] }
        let marks: [(ImageState, Bool)] = [
            (.stale, item.freshUntil.map { $0 <= now } == true), (.pinned, item.pinned == true),
            (.failed, item.failure != nil),
        ]
        return marks.filter(\.1).map(\.0)
    }

    /// Whether bytes of the image arrive now, or are made. Only these images move.
    var isComing: Bool {
        switch self {
        case .connecting, .receiving, .unmeasured, .deriving, .publishing: true
        default: false
        }
    }

    var word: String {
        switch self {
        case .unmeasured: "receiving"
        case .publishing: "saving"
        case .retrying: "waits for the next attempt"
        case .gone: "no longer cached"
        default: rawValue
        }
    }

    /// The state in one sentence.
    var meaning: String {
        switch self {
        case .queued: "The download waits for a slot."
        case .connecting: "The daemon waits for the first byte."
        case .receiving: "The ring is filled as far as bytes are here."
        case .unmeasured: "The server does not say how many bytes come."
        case .deriving: "A smaller image is made of a larger one."
        case .publishing: "All bytes are here, and not yet durable."
        case .retrying: "The ring empties until the next attempt."
        case .failed: "The last attempt failed."
        case .cached: "The picture is here."
        case .stale: "The origin is asked at the next use."
        case .pinned: "The image is never evicted."
        case .gone: "It was removed or evicted: Enter says why."
        }
    }
}

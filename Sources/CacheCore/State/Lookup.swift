/// What the cache knows of one key, answered from memory.
public enum Lookup: Hashable, Sendable {
    /// Not here and not on its way; why the last attempt failed, if one did.
    case missing(Failure?)
    /// On its way.
    case inFlight(Progress)
    /// A whole image lies under the name. Stays so while the origin is asked about it, or a newer version is
    /// on its way; why the last attempt at that failed, if one did.
    case cached(EntryFacts, failure: Failure? = nil, renewal: Refresh? = nil)

    /// Why the last attempt failed.
    public var failure: Failure? {
        switch self {
        case .missing(let failure), .cached(_, let failure, _): failure
        case .inFlight(let progress): progress.failure
        }
    }

    /// Whether a whole image lies under the name.
    public var isCached: Bool {
        guard case .cached = self else { return false }
        return true
    }

    /// How far it is on its way, where it is not here.
    public var progress: Progress? {
        guard case .inFlight(let progress) = self else { return nil }
        return progress
    }

    /// What a download of it is doing, of one that is here, too.
    public var phase: Phase? {
        switch self {
        case .missing: nil
        case .inFlight(let progress): progress.phase
        case .cached(_, _, let renewal): renewal?.phase
        }
    }
}

/// How far the question about an image that is here has come, or the download of a newer version.
public struct Refresh: Hashable, Sendable {
    public let phase: Phase
    /// Bytes received.
    public let received: Int64
    /// Bytes the origin promised, if it did.
    public let total: Int64?

    public init(_ progress: Progress) {
        (phase, received, total) = (progress.phase, progress.received, progress.total)
    }
}

/// How a question is meant.
public enum LookupView: Sendable {
    /// As things are now.
    case newest
    /// The same, but a download is as far as it was when that was last announced: so what is announced next
    /// is 1 % further, whoever listens since when.
    case announced
    /// The same, to tell all who observe of changes: it includes those that nobody has taken yet.
    case taken
}

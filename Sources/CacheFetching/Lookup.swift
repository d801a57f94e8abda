public import CacheValues

/// The state of one key, answered from memory.
public enum Lookup: Hashable, Sendable {
    /// The image is neither cached nor in download. The failure is the reason why the last attempt
    /// failed, if one did.
    case missing(Failure?)
    /// The image is in download.
    case inFlight(Progress)
    /// The image is cached. It stays cached while it is refreshed. `failure` is the reason why the
    /// last refresh failed, if one did.
    case cached(EntryFacts, failure: Failure? = nil, refresh: Refresh? = nil)

    /// The reason why the last attempt failed, if one did.
    public var failure: Failure? {
        switch self {
        case .missing(let failure), .cached(_, let failure, _): failure
        case .inFlight(let progress): progress.failure
        }
    }

    /// Whether the image is cached.
    public var isCached: Bool {
        guard case .cached = self else { return false }
        return true
    }

    /// The progress of the download, if the image is not cached.
    public var progress: Progress? {
        guard case .inFlight(let progress) = self else { return nil }
        return progress
    }

    /// The phase of the image's download, whether the image is cached or not.
    public var phase: Phase? {
        switch self {
        case .missing: nil
        case .inFlight(let progress): progress.phase
        case .cached(_, _, let refresh): refresh?.phase
        }
    }
}

/// What the cache knows of one key, answered from memory.
public enum Lookup: Hashable, Sendable {
    /// Not cached and not on its way; why the last attempt failed, if one did.
    case missing(Failure?)
    /// On its way.
    case inFlight(Progress)
    /// A whole image lies under the name. It stays so while the image is refreshed; `failure` says why the
    /// last attempt at that failed, if one did.
    case cached(EntryFacts, failure: Failure? = nil, refresh: Refresh? = nil)

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

    /// How far the download of an image is that is not cached.
    public var progress: Progress? {
        guard case .inFlight(let progress) = self else { return nil }
        return progress
    }

    /// What a download of the image is doing, cached or not.
    public var phase: Phase? {
        switch self {
        case .missing: nil
        case .inFlight(let progress): progress.phase
        case .cached(_, _, let refresh): refresh?.phase
        }
    }
}

/// What the cache knows of one key, answered from memory.
public enum Lookup: Hashable, Sendable {
    /// Not here and not on its way; why the last attempt failed, if one did.
    case missing(Failure?)
    /// On its way.
    case inFlight(Progress)
    /// A whole image lies under the name. Stays so while it is asked about, or a newer version is on its
    /// way; why the last attempt at that failed, if one did.
    case cached(EntryFacts, failure: Failure? = nil)

    /// Why the last attempt failed.
    public var failure: Failure? {
        switch self {
        case .missing(let failure), .cached(_, let failure): failure
        case .inFlight(let progress): progress.failure
        }
    }
}

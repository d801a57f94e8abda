/// What the cache knows of one key, answered from memory.
public enum Lookup: Hashable, Sendable {
    /// Not here and not on its way; why the last attempt failed, if one did.
    case missing(Failure?)
    /// On its way.
    case inFlight(Progress)
    /// A whole image lies under the name. Stays so while a newer version is on its way.
    case cached(EntryFacts)

    /// Why the last attempt failed, where nothing else is known.
    public var failure: Failure? {
        guard case .missing(let failure) = self else { return nil }
        return failure
    }
}

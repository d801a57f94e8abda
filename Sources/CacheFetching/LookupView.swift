/// The state of a download that a lookup shows.
public enum LookupView: Sendable {
    /// The current state.
    case newest
    /// The state at the last announcement. So the next announcement is always one percent further,
    /// whenever the observer asked.
    case announced
    /// The state at the last announcement, for a lookup that reports changes to observers. The
    /// lookup takes the key's change, so that it is not reported again.
    case taken
}

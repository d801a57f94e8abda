/// Which state of a download a lookup shows.
public enum LookupView: Sendable {
    /// As things are now.
    case newest
    /// A download is as far as it was when that was last announced. So the next announcement is 1 % further,
    /// whenever the observer came.
    case announced
    /// The same, to tell observers of changes: it includes those that no observer has taken yet.
    case taken
}

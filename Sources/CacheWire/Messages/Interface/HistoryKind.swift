// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// What happened to an image.
public enum HistoryKind: String, WireChoice {
    /// It was downloaded, checked and stored.
    case fetched
    /// Its origin confirmed that it has not changed.
    case confirmed
    /// It was made of a larger image.
    case derived
    /// A download ended without an image.
    case failed
    /// The cache chose it to make room.
    case evicted
    /// It was removed for another reason.
    case removed
    /// Its file was damaged, and was removed.
    case damaged
}

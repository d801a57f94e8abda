// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// Which images a List contains.
public enum ListState: String, WireChoice {
    /// Every entry: the default.
    case cached
    /// The images that are in flight, also those that are being refreshed, by key. order and
    /// reverse do not apply.
    case inFlight
    /// The entries that may be used without asking their origin.
    case fresh
    /// The entries about which their origin is asked when they are fetched next.
    case stale
    /// The entries that are protected from eviction.
    case pinned
    /// The entries whose bytes another entry has too.
    case duplicates
    /// The images that are not here because their last download failed, as far back as the
    /// history reaches, by key. order, reverse and the fields about entries do not apply. Of
    /// another person's shared daemon, nobody else may ask.
    case failed
}

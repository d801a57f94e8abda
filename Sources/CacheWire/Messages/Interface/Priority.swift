// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// The urgency of a fetch. A shared download has the highest priority of its callers.
public enum Priority: String, WireChoice {
    /// No user waits for the image: revalidation, prefetch.
    case background
    /// The default.
    case normal
    /// A user is looking at the place for the image.
    case visible
}

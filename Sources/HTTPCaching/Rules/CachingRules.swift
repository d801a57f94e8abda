/// The decisions that HTTP leaves to a cache: whether it serves one user or several, and how long it uses a
/// response that does not say so itself (RFC 9111 §1, §4.2.2).
///
///     var rules = CachingRules()
///     rules.isShared = true
///     rules.unknownLifetime = 600
public struct CachingRules: Hashable, Sendable {
    /// Whether the cache serves several users. It then does not store `private` responses, and it obeys
    /// `s-maxage`.
    public var isShared = false
    /// Seconds for which a response is fresh that says nothing about its age. The default is an hour.
    public var unknownLifetime: Int64 = 3600
    /// If a response names only its last change, it is fresh for this percentage of the time since then.
    public var heuristicPercent: Int64 = 10
    /// The bounds of that guess in seconds. The default is one minute to seven days.
    public var heuristicBounds: ClosedRange<Int64> = 60...(7 * 86400)
    /// Seconds for which a stale entry is used while the origin fails, unless the origin named another time.
    /// The default is a day.
    public var staleIfError: Int64 = 86400
    /// Seconds for which an image that must not be stored (`no-store`) stays for the callers that waited for
    /// it.
    public var noStoreGrace: Int64 = 60

    /// Creates the default rules: a private cache.
    public init() {}
}

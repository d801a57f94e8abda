public import CacheKey

/// The decisions that HTTP leaves to a cache: whether it serves one user or several, and how long it uses a
/// response that does not say so itself (RFC 9111 §1, §4.2.2).
///
///     var rules = CachingRules()
///     rules.isShared = true
///     rules.unknownLifetime = 600
public struct CachingRules: Hashable, Sendable {
    /// A time for which images of some hosts are fresh at least.
    public struct MinimumFreshness: Hashable, Sendable {
        public let host: HostPattern
        public let seconds: Int64

        public init(host: HostPattern, seconds: Int64) {
            (self.host, self.seconds) = (host, seconds)
        }
    }

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
    /// The user's own rules about freshness. Of those that match a host, the longest pattern counts.
    public var minimumFreshness: [MinimumFreshness] = []
    /// Seconds for which every image is fresh at least that may be stored, whatever its response says. See ``applied(to:)``.
    package var minimumLifetime: Int64 = 0

    /// Creates the default rules: a private cache.
    public init() {}

    /// The rules about the images of a host.
    package func applied(to host: some StringProtocol) -> CachingRules {
        let matching = minimumFreshness.filter { $0.host.matches(host) }
        guard let rule = matching.max(by: { $0.host.text.count < $1.host.text.count }) else {
            return self
        }
        var rules = self
        rules.minimumLifetime = rule.seconds
        return rules
    }
}

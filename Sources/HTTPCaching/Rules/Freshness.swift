package import CacheValues

/// The time until which a response can be used without asking the origin, and the terms after that
/// (RFC 9111 §4.2).
package struct Freshness: Hashable, Sendable {
    package var until: UnixTime
    package var terms: ReuseTerms

    /// The response's own statement is not known. It is stale, and the origin has to confirm it before any use.
    package static let unknown: Freshness = {
        var terms = ReuseTerms()
        terms.mustRevalidate = true
        return Freshness(until: UnixTime(rawValue: 1), terms: terms)
    }()
}

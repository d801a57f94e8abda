/// The conditions under which an origin permits the use of a stored response.
///
/// They are extracted from the directives of the response, because its head is not stored (RFC 9111 §5.2.2,
/// RFC 5861).
package struct ReuseTerms: Hashable, Sendable {
    /// Seconds for which each confirmation makes the response fresh. `nil` if the time came from `Expires` or
    /// from a guess.
    package var lifetime: Int64?
    /// Whether the cache has guessed how long the response is fresh.
    package var isGuessed = false
    /// Whether the user's own rule is the reason that the response is still fresh.
    package var isRuled = false
    /// Whether a stale response must not be used before the origin has confirmed it, not even if the origin
    /// fails.
    package var mustRevalidate = false
    /// Seconds for which a stale response can be used while the origin is asked in the background.
    package var staleWhileRevalidate: Int64?
    /// Seconds for which a stale response can be used because the origin fails, if the origin named them.
    package var staleIfError: Int64?

    package init() {}
}

extension ReuseTerms {
    /// Calls `body` with each field as a record has it, in order. A field with the value `nil` is left out.
    func forEachField(_ body: (_ name: String, _ value: String?) -> Void) {
        body("lifetime", lifetime.map { String($0) })
        body("guessed", isGuessed ? "1" : nil)
        body("strict", mustRevalidate ? "1" : nil)
        body("swr", staleWhileRevalidate.map { String($0) })
        body("sie", staleIfError.map { String($0) })
    }
}

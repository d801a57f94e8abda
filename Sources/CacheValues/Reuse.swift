/// How a request for a cached image is answered (RFC 9111 §4, RFC 5861).
package enum Reuse: Equatable, Sendable {
    /// The entry is a hit, and the origin is not asked.
    case fresh
    /// The entry is a hit, and one request in the background asks the origin whether it changed.
    case staleWhileRevalidating
    /// The origin has to confirm the entry before it is used.
    case mustRevalidate
}

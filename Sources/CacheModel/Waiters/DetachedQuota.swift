/// Counts the downloads that go on without a caller: requested with `wait: false`, or to ask about a stale
/// entry. Nobody's leaving ends them, so their number is limited.
package struct DetachedQuota: Sendable {
    package let limit: Int
    /// Detached downloads.
    package private(set) var count = 0
    /// Images that calls are about to name. Each may become one more detached download.
    package private(set) var announced = 0

    package init(limit: Int) { self.limit = limit }

    /// Whether so many more are within the limit.
    package func admits(_ more: Int) -> Bool { count + announced + more <= limit }

    package mutating func add() { count += 1 }

    package mutating func remove() { count -= 1 }

    /// A call is about to name so many images.
    package mutating func announce(_ images: Int) { announced += images }

    /// The call has named them.
    package mutating func named(_ images: Int) { announced -= images }
}

/// Limits the downloads that continue without a caller. Such downloads are requested with `wait:
/// false`, or ask the origin about a stale entry. No caller can end them by leaving, so their
/// number is limited.
package struct DetachedQuota: Sendable {
    package let limit: Int
    /// The number of detached downloads.
    package private(set) var count = 0
    /// The number of images that calls are about to name. Each can become another detached download.
    package private(set) var announced = 0

    package init(limit: Int) { self.limit = limit }

    /// Whether `more` further downloads are within the limit.
    package func admits(_ more: Int) -> Bool { count + announced + more <= limit }

    package mutating func add() { count += 1 }

    package mutating func remove() { count -= 1 }

    /// A call is about to name `images` images.
    package mutating func announce(_ images: Int) { announced += images }

    /// The call has named its images.
    package mutating func named(_ images: Int) { announced -= images }
}

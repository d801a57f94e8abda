import CacheValues

/// How the images of the order of use are divided. Unused ones are evicted before used ones.
package enum UsageClass: Int, CaseIterable, Sendable {
    /// Images without a use later than ``EntryFacts/firstUse``.
    case unused
    /// Images with such a use, and those of ``Ghosts`` that came back.
    case used
    /// Images that are pinned. They are never evicted.
    case pinned
}

extension EntryFacts {
    /// The number of seconds after an image was fetched in which a use of it belongs to the request that fetched it.
    /// A program opens at once what it has waited for, and some programs open it several times.
    package static let firstUse: Int64 = 10
}

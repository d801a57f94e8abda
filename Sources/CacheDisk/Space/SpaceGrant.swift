package import CacheValues

/// The answer to a download that requests space.
package enum SpaceGrant: Sendable {
    /// The image can grow to this number of bytes.
    case granted(upTo: Int64)
    /// More files have to be unlinked than one search finds. The download asks again after they are
    /// unlinked.
    case evicting
    /// The download cannot have the space. If it only has to wait, its flight has been queued again
    /// under another identifier.
    case refused(Failure)
}

/// The answer to a download that asks for space.
package enum SpaceGrant: Sendable {
    /// The image may grow to so many bytes.
    case granted(upTo: Int64)
    /// More files have to be unlinked than one search finds: ask again once these are gone.
    case evicting
    /// It cannot have the space; or not now, and its flight has been queued again under another identifier.
    case refused(Failure)
}

/// The answer to a download that requests space, and the files that have to be unlinked first. The
/// thread that writes partials also unlinks them, so none of these files is a partial that a
/// download has started to write again.
package struct SpaceAnswer: Sendable {
    package let grant: SpaceGrant
    package var victims: [Victim] = []
}

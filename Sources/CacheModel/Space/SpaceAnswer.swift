/// The answer to a download that asks for space, and the files that have to be unlinked for it first. The
/// thread that writes partials unlinks them, so none of them is a partial that has begun again.
package struct SpaceAnswer: Sendable {
    package let grant: SpaceGrant
    package var victims: [Victim] = []
}

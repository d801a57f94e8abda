/// The answer to a download that requests space, and the files to unlink before it writes. Between
/// the choice of a partial and its unlink no download can begin to write it, because one thread does
/// both.
package struct SpaceAnswer: Sendable {
    package let grant: SpaceGrant
    package var victims: [Victim] = []

    package init(grant: SpaceGrant, victims: [Victim] = []) {
        (self.grant, self.victims) = (grant, victims)
    }
}

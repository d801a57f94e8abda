/// What the directory watch reported about the names of a download, to tell the cache's own work from a
/// stranger's while the image is published.
///
/// The cache creates the name once, and nothing else: anything more is somebody else's doing. A rename
/// proves nothing, because the kernel merges the cache's event with a stranger's right behind it.
/// inotify(7)
package struct PublishObserver: Sendable {
    /// How often changes had been lost when publishing began. Since then none may have been.
    private var losses = 0
    private var created = 0
    private var others = 0
    /// A partial existed at some time of the download, whoever made it.
    private var hadPartial = false
    /// The partial has been renamed; a file that appears under the old name is a stranger's.
    private var isPartialGone = false
    private var isPartialBack = false

    package mutating func publishingBegan(losses: Int) {
        let hadPartial = hadPartial
        self = PublishObserver()
        (self.losses, self.hadPartial) = (losses, hadPartial)
    }

    /// Whether only the cache touched the name, and no event can have been missed.
    package func isUndisturbed(losses: Int) -> Bool {
        created == 1 && others == 0 && !hadPartial && self.losses == losses
    }

    /// Whether there is certainly no partial any more.
    package func leavesNoPartial(losses: Int) -> Bool {
        (isPartialGone ? !isPartialBack : !hadPartial) && self.losses == losses
    }

    package mutating func note(_ change: DirectoryChange) {
        switch change {
        case .created: created += 1
        case .partialVanished: isPartialGone = true
        case .partialChanged:
            hadPartial = true
            isPartialBack = isPartialGone
        default: others += 1
        }
    }
}

package import CacheDisk

/// The changes that the directory watch reported for the names of one download. They distinguish
/// the cache's own work from another program's during publication.
///
/// The cache creates the name once and does nothing else to it, so any further change is another
/// program's. A rename proves nothing, because the kernel merges the cache's event with another
/// program's event right behind it. inotify(7)
package struct PublishObserver: Sendable {
    /// The number of times that changes had been lost when publishing began. Another loss since
    /// then makes the observations useless.
    private var losses = 0
    private var created = 0
    private var others = 0
    /// Whether a partial existed at any time during the download, even if another program made it.
    private var hadPartial = false
    /// Whether the partial has been renamed. A file that appears under its old name after that
    /// belongs to another program.
    private var isPartialGone = false
    private var isPartialBack = false

    /// There is a partial of an earlier download, which this one may not be able to remove.
    package mutating func foundPartial() { hadPartial = true }

    package mutating func publishingBegan(losses: Int) {
        let hadPartial = hadPartial
        self = PublishObserver()
        (self.losses, self.hadPartial) = (losses, hadPartial)
    }

    /// Whether only the cache touched the name, and no event can have been missed.
    package func isUndisturbed(losses: Int) -> Bool {
        created == 1 && others == 0 && !hadPartial && self.losses == losses
    }

    /// Whether it is certain that no partial is left.
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

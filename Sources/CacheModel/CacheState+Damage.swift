package import CacheKey
import CacheValues

/// Damage that a verification finds, and the damaged files that it sets aside.
extension CacheState {
    /// A verification found that the file of an entry does not contain the bytes that were fetched.
    package mutating func damageFound(_ key: CacheKey, _ effects: inout Effects) {
        counters.damaged += 1
        let isNews = catalog.vanished(key)
        catalog.becameDirty(key)
        space.damaged.files.becameDirty(key)
        if isNews { changed(key, &effects) }
    }

    /// A probe of a damaged file has finished. It began with ``SideFiles/beginProbe()`` and ends here. A
    /// name that changed during the probe is probed again.
    package mutating func damagedProbed(
        _ key: CacheKey, _ file: DamagedFile?, since start: ChangeEpochs.Start
    ) {
        if space.damaged.files.isCurrent(key, since: start) { damagedProbed(key, file) }
        space.damaged.files.endProbe()
    }

    /// Records a damaged file. `nil` if there is none.
    package mutating func damagedProbed(_ key: CacheKey, _ file: DamagedFile?) {
        space.damaged.files.clean(key)
        space.damaged[key] = file
    }

    /// A damaged file has become too old, or an entry has taken its place. It stays if it holds the pin
    /// of an image that is not here.
    package mutating func damagedExpired(_ key: CacheKey, _ effects: inout Effects) {
        guard catalog.contains(key) || space.damaged[key]?.isPinned != true else { return }
        unlinkDamaged(key, &effects)
    }

    /// An image was published under the key, so its damaged file is of no use any more. The image has
    /// taken over the pin.
    mutating func damageRepaired(_ key: CacheKey, _ effects: inout Effects) {
        unlinkDamaged(key, &effects)
    }

    /// - Parameter sparesPinned: whether a file that holds a pin stays.
    mutating func removeDamaged(
        _ key: CacheKey, sparesPinned: Bool, _ effects: inout Effects
    ) {
        retryEviction(of: .damaged(key))
        if sparesPinned, space.damaged.pinned.contains(key) { return }
        unlinkDamaged(key, &effects)
    }

    private mutating func unlinkDamaged(_ key: CacheKey, _ effects: inout Effects) {
        guard let victim = space.unlinkPending(damagedOf: key) else { return }
        effects.work.append(.unlink(victim))
    }

    /// A pin was set or cleared, perhaps that of a damaged file.
    mutating func damagedPinChanged(_ key: CacheKey) {
        if space.damaged.files.mayHold(key) { space.damaged.files.becameDirty(key) }
    }

    /// The damaged file that is evicted next: any of those that hold no pin.
    mutating func nextDamagedVictim() -> Victim? {
        guard space.damaged.files.count > 0 else { return nil }
        let next = space.damaged.evictable.first { [space] in
            !space.unevictable.contains(.damaged($0))
        }
        return next.flatMap { space.unlinkPending(damagedOf: $0) }
    }
}

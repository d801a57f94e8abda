package import CacheKey
package import CacheValues

/// What probes of names found, and what the watch of the directory reports.
extension DiskState {
    /// A probe of a name found this.
    ///
    /// - Returns: whether an entry came or went.
    package mutating func found(
        _ key: CacheKey, _ probe: EntryProbe, isScan: Bool = false
    ) -> Bool {
        clean(key)
        guard case .entry(let facts) = probe else { return vanished(key) }
        noStoreGrace.note(key, facts.removeAt)
        return insert(key, facts, isScan: isScan)
    }

    /// The scan has probed a name that is no entry's, or failed to.
    package mutating func scanned(_ name: ScannedName, since start: ChangeEpochs.Start) {
        switch name {
        case .entry: break
        case .partial(let key, let bytes):
            // The partial may have become an entry since the probe.
            if !isCurrent(key, since: start) {
                space.partials.needsProbe(key)
            } else if !space.partials.dirtyNames.contains(key) {
                partialProbed(key, bytes)
            }
        case .unreadable(.entry(let key)): becameDirty(key)
        case .unreadable(.partial(let key)): space.partials.needsProbe(key)
        }
    }

    /// The directory watch reports a change. The cache itself or another program made it.
    ///
    /// - Returns: whether an entry went, or the directory has to be read again.
    package mutating func directoryChanged(_ change: DirectoryChange, now: () -> FileTime) -> Bool {
        switch change {
        case .opened(let key):
            if !accessTimes.takeOwnOpen(of: key) { used(key, at: now()) }
        case .partialChanged(let key), .partialVanished(let key):
            space.retryEviction(of: .partial(key))
            if !space.holds(key) { space.partials.becameDirty(key) }
        case .appeared(let key), .created(let key):
            space.retryEviction(of: .entry(key))
            becameDirty(key)
        case .vanished(let key):
            space.retryEviction(of: .entry(key))
            return vanished(key)
        case .overflowed:
            defer { changesLost() }
            return validity == .complete
        }
        return false
    }

    /// Takes the postponed work. It can begin because the directory has been read or will not be read.
    package mutating func takePostponed() -> [@Sendable () -> Void] {
        defer { space.postponed = [] }
        return space.postponed
    }

    // MARK: Partials

    /// A probe of a partial's name begins. ``partialProbed(_:_:since:)`` or ``endPartialProbe()`` follows.
    package mutating func beginPartialProbe() -> ChangeEpochs.Start { space.partials.beginProbe() }

    package mutating func endPartialProbe() { space.partials.endProbe() }

    /// A probe of a partial's name has finished, and ends here. A name that changed during the probe is probed again.
    package mutating func partialProbed(
        _ key: CacheKey, _ bytes: Int64?, since start: ChangeEpochs.Start
    ) {
        if space.partials.isCurrent(key, since: start) { partialProbed(key, bytes) }
        space.partials.endProbe()
    }

    /// Records the bytes that the disk holds for a partial. `nil` if there is no partial.
    mutating func partialProbed(_ key: CacheKey, _ bytes: Int64?) {
        space.partials.clean(key)
        // The reservation of a download covers its own partial.
        if !space.holds(key) { space.partials[key] = bytes }
    }

    /// The partial is about to be discarded, so its name has to be probed.
    package mutating func discardsPartial(_ key: CacheKey) { space.partials.needsProbe(key) }
}

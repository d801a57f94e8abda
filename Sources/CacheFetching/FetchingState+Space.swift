package import CacheDisk
package import CacheKey
package import CacheValues

/// Space for downloads: they ask, the disk half answers, and what it evicts for them leaves the index.
extension FetchingState {
    /// How downloads and callers use the files of a key.
    package var use: (CacheKey) -> FileUse {
        { [downloads, waiters] key in
            let use = downloads.use(key)
            return use == .none && waiters.isGiven(key) ? .given : use
        }
    }

    /// A download requests space before it writes.
    ///
    /// - Parameters:
    ///   - needed: bytes of the image that it is about to have on the disk.
    ///   - length: bytes of the whole image, if the origin gave its length.
    package mutating func spaceRequested(
        _ key: CacheKey, _ id: FlightID, needed: Int64, length: Int64?, _ effects: inout Effects
    ) -> SpaceAnswer {
        guard let flight = downloads.flight(key, id) else {
            return SpaceAnswer(grant: .refused(.removed))
        }
        let mayHavePartial = disk.space.partials.mayHold(key)
        let reserved = disk.space.reserved
        let answer = disk.reserve(
            for: key, needed: needed, length: length, received: flight.intake.received, use)
        leftIndex(answer.victims, &effects)
        switch answer.grant {
        case .granted:
            if disk.space.reserved > reserved {
                if mayHavePartial { downloads.update(key) { $0.observer.foundPartial() } }
                // A download of unknown length may need more later, which another should not take before.
                if length != nil { spaceReleased(&effects) }
            }
            if !answer.victims.isEmpty { evictToWatermark(&effects) }
        case .evicting: break
        case .refused(.waitsForSpace): waitForSpace(key, needed, &effects)
        case .refused(let failure): countRefusal(failure)
        }
        return answer
    }

    /// The download requested space that other downloads hold. It stops, and continues once space is free.
    private mutating func waitForSpace(
        _ key: CacheKey, _ needed: Int64, _ effects: inout Effects
    ) {
        // What it has received on top of what it has reported is still written to its partial.
        disk.space.wrote(key, needed)
        requeue(key, becauseOfSpace: true, &effects)
        disk.space.becameShort()
    }

    /// The head of a response gives the length of the image. Nothing is reserved yet.
    ///
    /// - Returns: the failure if the cache cannot hold an image of that length at all.
    package mutating func lengthPromised(
        _ key: CacheKey, _ id: FlightID, _ length: Int64
    ) -> Failure? {
        guard downloads.flight(key, id) != nil else { return .removed }
        let failure = disk.refusal(of: key, bytes: length)
        if let failure { countRefusal(failure) }
        return failure
    }

    private mutating func countRefusal(_ failure: Failure) {
        if failure.kind == .noRoom { counters.refused += 1 }
    }

    /// The disk is full, although the ledger counts free space. Chooses victims for a download that
    /// lacks `bytes` bytes, or none if all together would not free enough.
    package mutating func diskFilled(
        _ key: CacheKey, _ bytes: Int64, _ effects: inout Effects
    ) -> [Victim] {
        guard downloads.contains(key) else { return [] }
        let victims = disk.diskFilled(key, bytes, use)
        leftIndex(victims, &effects)
        return victims
    }

    /// These victims are no entries any more.
    package mutating func leftIndex(_ victims: [Victim], _ effects: inout Effects) {
        for case .entry(let key) in victims.lazy.map(\.name) { changed(key, &effects) }
    }

    /// Some space may have become free, so another download can start.
    package mutating func spaceReleased(_ effects: inout Effects) {
        if disk.space.becameFree(isWaitedFor: !scheduler.isQueueEmpty) { startTransfers(&effects) }
    }

    /// The limits may be exceeded because they changed, an entry was added, or other programs wrote
    /// to the disk.
    package mutating func limitsChecked(_ effects: inout Effects) {
        if disk.isOverLimits { evictToWatermark(&effects) }
    }

    /// Starts an eviction that leaves a tenth of the limits free, unless one is already running.
    private mutating func evictToWatermark(_ effects: inout Effects) {
        guard !isDraining, let goal = disk.evictToWatermark() else { return }
        effects.work.append(.evict(goal))
    }
}

extension Failure {
    package static let removed = Failure(
        .removed, "it was removed while it was on its way; ask again")
}

package import CacheDisk
package import CacheKey
package import CacheValues

/// Space for downloads. It is reserved before bytes arrive, and freed by evicting the least
/// recently used entries.
extension CacheState {
    private var usage: SpaceLedger.Usage {
        SpaceLedger.Usage(entries: catalog.index.count, bytes: catalog.index.allocated)
    }

    /// Bytes the disk holds for entries and partials.
    package var bytesUsed: Int64 { space.used(usage) }

    /// Bytes used, reserved, or about to be unlinked.
    package var bytesHeld: Int64 { space.held(usage) }

    /// Records a measurement of the file system's free bytes.
    package mutating func measured(free: Int64) { space.measured(free: free, usage) }

    // MARK: Requesting space

    /// A download requests space before it writes.
    ///
    /// - Parameters:
    ///   - needed: bytes of the image that it is about to have on the disk.
    ///   - length: bytes of the whole image, if the origin gave its length.
    package mutating func spaceRequested(
        _ key: CacheKey, _ id: FlightID, needed: Int64, length: Int64?, _ effects: inout Effects
    ) -> SpaceAnswer {
        let bytes = max(needed, length ?? space.budget.step(for: needed))
        if let failure = refusal(key, id, bytes: bytes) {
            return SpaceAnswer(grant: .refused(failure))
        }
        guard let flight = downloads[key] else { return SpaceAnswer(grant: .refused(.removed)) }
        let more = Budget.allocation(for: bytes) - flight.intake.reserved
        let (search, isEnough) = victims(for: more, key, flight, &effects)
        if isEnough {
            reserve(more, key, flight, isWhole: length != nil, &effects)
            if !search.victims.isEmpty { evictToWatermark(&effects) }
            return SpaceAnswer(grant: .granted(upTo: bytes), victims: search.victims)
        }
        // More may be evicted once these are gone.
        if search.victims.count == search.limit {
            return SpaceAnswer(grant: .evicting, victims: search.victims)
        }
        return SpaceAnswer(
            grant: .refused(noSpaceNow(key, flight, bytes, &effects)), victims: search.victims)
    }

    /// The head of a response gives the length of the image. Nothing is reserved yet.
    ///
    /// - Returns: the failure if the cache cannot hold an image of that length at all.
    package mutating func lengthPromised(_ key: CacheKey, _ id: FlightID, _ length: Int64)
        -> Failure?
    {
        refusal(key, id, bytes: length)
    }

    private mutating func refusal(_ key: CacheKey, _ id: FlightID, bytes: Int64) -> Failure? {
        guard let flight = downloads.flight(key, id) else { return .removed }
        let most = space.budget.maximumImageSize
        guard bytes <= most else { return .tooLarge(bytes, most) }
        let more = Budget.allocation(for: bytes) - flight.intake.reserved
        if mayFit(key, flight, more) { return nil }
        counters.refused += 1
        return noSpace(for: bytes)
    }

    /// Whether `more` bytes would fit if every entry and partial that can be evicted were removed.
    private func mayFit(_ key: CacheKey, _ flight: Flight, _ more: Int64) -> Bool {
        let staying = catalog.isRead ? immovable : .nothing
        var bytes = flight.intake.reserved + staying.bytes
        // The old entry stays until the download replaces it.
        if let old = catalog.facts(of: key), !old.isPinned, !space.unevictable.contains(.entry(key))
        {
            bytes += old.allocated
        }
        let limit = catalog.isRead ? space.ceiling : space.budget.maximumBytes
        let hasPlace = isReplacing(key, flight) || staying.entries < space.budget.maximumEntries
        return bytes + more <= limit && hasPlace
    }

    /// The number of entries once all downloads with a reservation have ended. A new version of an
    /// entry does not add one.
    ///
    /// The downloads are checked one by one only if the upper bound exceeds `limit`. Otherwise the
    /// result is that bound.
    package func entriesToCome(ifOver limit: Int) -> Int {
        let most = catalog.index.count + space.holders.count
        guard most > limit else { return most }
        return catalog.index.count + space.holders.count { !catalog.contains($0) }
    }

    /// Whether the entry of this download is already counted, as an entry or through a reservation.
    private func isReplacing(_ key: CacheKey, _ flight: Flight) -> Bool {
        flight.hasSpace || catalog.contains(key)
    }

    /// Chooses the files to unlink for `more` bytes, and says whether they are enough.
    private mutating func victims(
        for more: Int64, _ key: CacheKey, _ flight: Flight, _ effects: inout Effects
    ) -> (search: VictimSearch, isEnough: Bool) {
        let own = flight.hasSpace ? 0 : space.partials[key] ?? 0
        var bytes = bytesHeld + more - space.ceiling - own
        let most = space.budget.maximumEntries
        var entries =
            isReplacing(key, flight)
            ? catalog.index.count - most : entriesToCome(ifOver: most - 1) + 1 - most
        var search = VictimSearch()
        guard bytes > 0 || entries > 0 else { return (search, true) }
        let staying = immovable
        // The least recently used entries are unknown until the directory has been read.
        guard catalog.isRead, bytes <= bytesUsed - staying.bytes,
            entries <= catalog.index.count - staying.entries
        else { return (search, false) }
        while bytes > 0 || entries > 0,
            let victim = nextVictim(&search, for: flight, missing: bytes)
        {
            search.victims.append(victim)
            bytes -= victim.bytes
            if case .entry(let key) = victim.name {
                entries -= 1
                changed(key, &effects)
            }
        }
        return (search, bytes <= 0 && entries <= 0)
    }

    private mutating func reserve(
        _ more: Int64, _ key: CacheKey, _ flight: Flight, isWhole: Bool, _ effects: inout Effects
    ) {
        guard more > 0 else { return }
        if space.partials.mayHold(key) { downloads.update(key) { $0.observer.foundPartial() } }
        space.reserve(more, for: key, received: flight.intake.received)
        downloads.update(key) { $0.reserves(more) }
        // A download of unknown length may need more later, which another should not take before.
        if isWhole { spaceReleased(&effects) }
    }

    /// Nothing more can be evicted. The download waits for the space of other downloads. If none of
    /// them holds space, it fails.
    private mutating func noSpaceNow(
        _ key: CacheKey, _ flight: Flight, _ bytes: Int64, _ effects: inout Effects
    ) -> Failure {
        let others = space.holders.count - (flight.hasSpace ? 1 : 0)
        guard others > 0 || space.pendingUnlink > 0 || !catalog.isRead else {
            counters.refused += 1
            return noSpace(for: bytes)
        }
        waitForSpace(key, &effects)
        return .waitsForSpace
    }

    // MARK: Releasing space

    /// Some space may have become free, so another download can start.
    package mutating func spaceReleased(_ effects: inout Effects) {
        guard space.isShort else { return }
        if scheduler.isQueueEmpty { space.shortageEnded() } else { space.oneMoreCanStart() }
        startTransfers(&effects)
    }

    /// The limits have changed. An image that was too large for the old limits may fit the new ones.
    package mutating func limitsSet(_ budget: Budget, _ effects: inout Effects) {
        let mayBeLarger = budget.maximumImageSize > space.budget.maximumImageSize
        space.budget = budget
        if mayBeLarger {
            for key in failures.forgetAll(.tooLarge) { changed(key, &effects) }
        }
        limitsChecked(&effects)
        spaceReleased(&effects)
    }

    // MARK: Messages

    private func noSpace(for bytes: Int64) -> Failure {
        let (budget, ceiling) = (space.budget, space.ceiling)
        let pinned = catalog.index.pinned
        var reasons = ["no room for \(bytes) bytes: the cache may hold \(ceiling)"]
        if ceiling < budget.maximumBytes {
            reasons.append(
                """
                because \(budget.minimumFree) bytes of the file system stay free (--min-free); free some space, or \
                end programs that have evicted images open
                """)
        } else {
            reasons.append("(--max-bytes)")
        }
        if pinned.entries >= budget.maximumEntries {
            reasons = ["no room: all \(budget.maximumEntries) entries (--max-entries) are pinned"]
        }
        let stuck = immovable.bytes - pinned.bytes
        if stuck > 0 {
            reasons.append("and files that cannot be removed take \(stuck) (see the log)")
        }
        if pinned.bytes > 0 {
            reasons.append("and pinned images take \(pinned.bytes); unpin or remove some")
        }
        return Failure(.noRoom, reasons.joined(separator: " "))
    }
}

extension Failure {
    /// - Parameters:
    ///   - length: bytes of the image. `nil` if it is only known to exceed its limit.
    ///   - maximum: the maximum of bytes of one image.
    package static func tooLarge(_ length: Int64?, _ maximum: Int64) -> Failure {
        let size = length.map { "the image has \($0) bytes" } ?? "the image is too large"
        return Failure(
            .tooLarge, "\(size); one image can have \(maximum) bytes (--max-image-bytes)")
    }

    /// This failure ends the transfer. The download itself is queued again.
    package static let waitsForSpace = Failure(
        .noRoom, "others have the space now; it continues later")
}

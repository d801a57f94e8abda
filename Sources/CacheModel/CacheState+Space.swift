package import CacheKey

/// Space for downloads: reserved before bytes arrive, made by evicting the least recently used.
extension CacheState {
    private var usage: SpaceLedger.Usage {
        SpaceLedger.Usage(entries: catalog.index.count, bytes: catalog.index.allocated)
    }

    /// Bytes the disk holds for entries and partials.
    package var bytesUsed: Int64 { space.used(usage) }

    /// Bytes held, reserved, or not free yet.
    package var bytesHeld: Int64 { space.held(usage) }

    /// The file system was asked for its free bytes.
    package mutating func measured(free: Int64) { space.measured(free: free, usage) }

    // MARK: Asking

    /// A download asks for space before it writes.
    ///
    /// - Parameters:
    ///   - needed: bytes of image it is about to have.
    ///   - length: bytes it will have in all, if the origin said.
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
            reserve(more, key, flight, &effects)
            if !search.victims.isEmpty { evictToWatermark(&effects) }
            return SpaceAnswer(grant: .granted(upTo: bytes), victims: search.victims)
        }
        if search.isCutShort { return SpaceAnswer(grant: .evicting, victims: search.victims) }
        return SpaceAnswer(
            grant: .refused(noSpaceNow(key, flight, bytes, &effects)), victims: search.victims)
    }

    /// The head of a response promises so many bytes: why an image of that size cannot be taken at all, if
    /// so. Nothing is reserved yet.
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

    /// Whether so many bytes more could be had if everything else but pinned entries were gone.
    private func mayFit(_ key: CacheKey, _ flight: Flight, _ more: Int64) -> Bool {
        let staying = catalog.isRead ? immovable : .nothing
        var bytes = flight.intake.reserved + staying.bytes
        // The entry it replaces stays until then.
        if let old = catalog.facts(of: key), !old.isPinned, !space.unevictable.contains(.entry(key))
        {
            bytes += old.allocated
        }
        let limit = catalog.isRead ? space.ceiling : space.budget.maximumBytes
        let hasPlace = isReplacing(key, flight) || staying.entries < space.budget.maximumEntries
        return bytes + more <= limit && hasPlace
    }

    /// Entries there will be with the downloads that have a reservation; a new version of an entry is none
    /// more. Counted one by one only if all together may be more than a limit.
    package func entriesToCome(ifOver limit: Int) -> Int {
        let most = catalog.index.count + space.holders.count
        guard most > limit else { return most }
        return catalog.index.count + space.holders.count { !catalog.contains($0) }
    }

    /// Whether a download adds no entry that is not counted already.
    private func isReplacing(_ key: CacheKey, _ flight: Flight) -> Bool {
        flight.hasSpace || catalog.contains(key)
    }

    /// The files to unlink for so many bytes more, and whether they are enough.
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
        // Which entries are the least recently used is known once the directory is read.
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
        _ more: Int64, _ key: CacheKey, _ flight: Flight, _ effects: inout Effects
    ) {
        space.reserve(more, for: key, received: flight.intake.received)
        downloads.update(key) { $0.reserves(more) }
        startTransfers(&effects)
    }

    /// No more can be evicted. The download waits for what others have; if nobody has anything, it fails.
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

    // MARK: Releasing

    /// Some space may be free now: another download may start.
    package mutating func spaceReleased(_ effects: inout Effects) {
        guard space.isShort else { return }
        space.released()
        startTransfers(&effects)
    }

    /// There are new limits. What was too large for the old ones may not be for these.
    package mutating func limitsSet(_ budget: Budget, _ effects: inout Effects) {
        let mayBeLarger = budget.maximumImageSize > space.budget.maximumImageSize
        space.budget = budget
        if mayBeLarger {
            for key in failures.forgetAll(.tooLarge) { changed(key, &effects) }
        }
        limitsChecked(&effects)
        spaceReleased(&effects)
    }

    // MARK: Saying why

    private func noSpace(for bytes: Int64) -> Failure {
        let (budget, ceiling, pinned) = (space.budget, space.ceiling, catalog.index.pinned)
        var reasons = ["no room for \(bytes) bytes: the cache may hold \(ceiling)"]
        if ceiling < budget.maximumBytes {
            reasons.append(
                "because \(budget.minimumFree) bytes of the file system stay free (--min-free)")
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
        if pinned.entries > 0 {
            reasons.append("and pinned images take \(pinned.bytes); unpin or remove some")
        }
        return Failure(.noRoom, reasons.joined(separator: " "))
    }
}

extension Failure {
    /// - Parameters:
    ///   - length: bytes of the image; `nil` if only its limit is known to be exceeded.
    ///   - maximum: bytes one image may have.
    package static func tooLarge(_ length: Int64?, _ maximum: Int64) -> Failure {
        let size = length.map { "the image has \($0) bytes" } ?? "the image is too large"
        return Failure(
            .tooLarge, "\(size); one image can have \(maximum) bytes (--max-image-bytes)")
    }

    /// Ends the transfer; the download itself is queued again.
    package static let waitsForSpace = Failure(
        .noRoom, "others have the space now; it continues later")
}

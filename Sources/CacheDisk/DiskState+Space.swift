package import CacheKey
package import CacheValues

/// Space for downloads. It is reserved before bytes arrive, and freed by evicting the least
/// recently used entries. Then ``SpaceLedger/wrote(_:_:)`` and ``SpaceLedger/release(_:leavesPartial:)`` follow.
extension DiskState {
    /// Bytes the disk holds for entries and partials.
    package var bytesUsed: Int64 { index.allocated + space.partials.total }

    /// Bytes used or reserved.
    var bytesPromised: Int64 { bytesUsed + space.reserved }

    /// Bytes used, reserved, or about to be unlinked.
    var bytesHeld: Int64 { bytesPromised + space.pendingUnlink }

    /// Records a measurement of the file system's free bytes.
    package mutating func measured(free: Int64) { space.measured(free: free, used: bytesUsed) }

    // MARK: Reserving

    /// Reserves space for a download that is about to have `needed` bytes of an image on the disk.
    ///
    /// - Parameters:
    ///   - length: bytes of the whole image, if the origin gave its length.
    ///   - received: bytes of the image that are on the disk already.
    ///   - use: how downloads and callers use the files of a key.
    /// - Returns: the refusal ``Failure/waitsForSpace`` if other downloads hold the space.
    package mutating func reserve(
        for key: CacheKey, needed: Int64, length: Int64?, received: Int64,
        _ use: (CacheKey) -> FileUse
    ) -> SpaceAnswer {
        let bytes = max(needed, length ?? space.budget.step(for: needed))
        if let failure = refusal(of: key, bytes: bytes) {
            return SpaceAnswer(grant: .refused(failure))
        }
        let more = missing(bytes, for: key)
        let own = space.holds(key) ? 0 : space.partials[key] ?? 0
        let most = space.budget.maximumEntries
        let entries =
            isCounted(key)
            ? index.count - most : entriesToCome(ifOver: most - 1) + 1 - most
        let (search, isEnough) = victims(
            for: bytesHeld + more - space.ceiling - own, entries, key, use)
        if isEnough {
            if more > 0 { space.reserve(more, for: key, received: received) }
            return SpaceAnswer(grant: .granted(upTo: bytes), victims: search.victims)
        }
        // More may be evicted once these are gone.
        if search.victims.count == search.limit {
            return SpaceAnswer(grant: .evicting, victims: search.victims)
        }
        let mayWait = space.isHeldByOthers(than: key) || space.pendingUnlink > 0 || !isRead
        return SpaceAnswer(
            grant: .refused(mayWait ? .waitsForSpace : noSpace(for: bytes)),
            victims: search.victims)
    }

    /// The failure of a download if the cache cannot hold an image of `bytes` bytes at all.
    package func refusal(of key: CacheKey, bytes: Int64) -> Failure? {
        let most = space.budget.maximumImageSize
        guard bytes <= most else { return .tooLarge(bytes, most) }
        return mayFit(key, missing(bytes, for: key)) ? nil : noSpace(for: bytes)
    }

    /// Bytes of the disk that an image of `bytes` bytes needs beyond its reservation.
    private func missing(_ bytes: Int64, for key: CacheKey) -> Int64 {
        Budget.allocation(for: bytes) - space.reserved(for: key)
    }

    /// Whether `more` bytes would fit if every entry and partial that can be evicted were removed.
    private func mayFit(_ key: CacheKey, _ more: Int64) -> Bool {
        let staying = isRead ? immovable : .nothing
        var bytes = space.reserved(for: key) + staying.bytes
        // The old entry stays until the download replaces it.
        if let old = facts(of: key), !old.isPinned, !space.unevictable.contains(.entry(key)) {
            bytes += old.allocated
        }
        let limit = isRead ? space.ceiling : space.budget.maximumBytes
        let hasPlace = isCounted(key) || staying.entries < space.budget.maximumEntries
        return bytes + more <= limit && hasPlace
    }

    /// The number of entries once all downloads with a reservation have ended. A new version of an
    /// entry does not add one.
    ///
    /// The downloads are checked one by one only if the upper bound exceeds `limit`. Otherwise the
    /// result is that bound.
    func entriesToCome(ifOver limit: Int) -> Int {
        let most = index.count + space.reservations.count
        guard most > limit else { return most }
        return index.count + space.reservations.keys.count { !contains($0) }
    }

    /// Whether the image is already counted, as an entry or through a reservation.
    private func isCounted(_ key: CacheKey) -> Bool { space.holds(key) || contains(key) }

    /// Chooses files to unlink that hold so many bytes and are so many entries, and says whether they are enough.
    mutating func victims(
        for bytes: Int64, _ entries: Int, _ key: CacheKey, _ use: (CacheKey) -> FileUse
    ) -> (search: VictimSearch, isEnough: Bool) {
        var (bytes, entries) = (bytes, entries)
        var search = VictimSearch()
        guard bytes > 0 || entries > 0 else { return (search, true) }
        let staying = immovable
        // The least recently used entries are unknown until the directory has been read.
        guard isRead, bytes <= bytesUsed - staying.bytes,
            entries <= index.count - staying.entries
        else { return (search, false) }
        while bytes > 0 || entries > 0,
            let victim = nextVictim(&search, for: key, missing: bytes, use)
        {
            search.victims.append(victim)
            bytes -= victim.bytes
            if victim.isEntry { entries -= 1 }
        }
        return (search, bytes <= 0 && entries <= 0)
    }

    /// The limits have changed. Returns whether images can be larger than before.
    package mutating func limitsSet(_ budget: Budget) -> Bool {
        defer { space.budget = budget }
        return budget.maximumImageSize > space.budget.maximumImageSize
    }

    // MARK: Messages

    private func noSpace(for bytes: Int64) -> Failure {
        let (budget, ceiling) = (space.budget, space.ceiling)
        let pinned = index.pinned
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

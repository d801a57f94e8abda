/// Fewer downloads at once while memory is short.
extension CacheState {
    /// Memory is critically short: for a while half as many downloads run at once.
    mutating func transfersHalved(until end: ContinuousClock.Instant) {
        slots.limit = max(1, configuredTransferLimit / 2)
        room.throttledUntil = end
    }

    /// Time has passed; the while may be over, and so may be that for which bytes are owed.
    mutating func timePassed(now: ContinuousClock.Instant) -> [Effect] {
        if let end = room.isOwedUntil, end <= now {
            (room.pendingFree, room.isOwedUntil) = (0, nil)
        }
        guard let end = room.throttledUntil, end <= now else { return [] }
        room.throttledUntil = nil
        slots.limit = configuredTransferLimit
        return startTransfers()
    }
}

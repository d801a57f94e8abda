/// Fewer downloads at once while memory is short.
extension CacheState {
    /// Memory is critically short: for a while half as many downloads run at once.
    mutating func transfersHalved(until end: ContinuousClock.Instant) {
        slots.limit = max(1, configuredTransferLimit / 2)
        room.isTightUntil = end
    }

    /// Time has passed; the while may be over, and so may be that for which bytes are owed.
    mutating func timePassed(now: ContinuousClock.Instant) -> [Effect] {
        if let end = room.isOwedUntil, end <= now { (room.owed, room.isOwedUntil) = (0, nil) }
        guard let end = room.isTightUntil, end <= now else { return [] }
        room.isTightUntil = nil
        slots.limit = configuredTransferLimit
        return startTransfers()
    }
}

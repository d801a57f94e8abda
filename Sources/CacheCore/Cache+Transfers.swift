internal import CacheKey

/// The transfer loop's thread reports to the state.
extension Cache: TransferDelegate {
    func downloadBegan(_ key: CacheKey, _ id: FlightID, received: Int64, of total: Int64?) {
        perform { $0.transferBegan(key, id, with: received, of: total) }
    }

    func downloadAnswered(_ id: FlightID, isMultiplexed: Bool) {
        perform { $0.transferAnswered(id, isMultiplexed: isMultiplexed) }
    }

    func flow(of key: CacheKey, _ id: FlightID) -> TransferQueue.FlowKey? {
        performing { state in (state.lane(of: key, id), []) }
    }

    func downloadProgressed(_ key: CacheKey, _ id: FlightID, received: Int64, of total: Int64?) {
        perform { $0.transferProgressed(key, id, received: received, total: total) }
    }

    func space(for key: CacheKey, _ id: FlightID, needed: Int64, length: Int64?) -> SpaceGrant {
        room(for: key, id, needed: needed, length: length)
    }

    func downloadEnded(_ key: CacheKey, _ id: FlightID, _ end: TransferEnd) {
        var random = SystemRandomNumberGenerator()
        perform { $0.transferFinished(key, id, end, now: .now, using: &random) }
    }
}

import CacheFetching
internal import CacheKey
import CacheModel
import CacheValues
import HTTPCaching
import ImageFormats

/// The events of the thread that asks the store. Each becomes an event of the state.
final class StoreDelegate: TransferDelegate {
    private let cache: Cache

    init(cache: Cache) { self.cache = cache }

    func downloadBegan(_ key: CacheKey, _ id: FlightID, received: Int64, of total: Int64?) {
        cache.downloadBegan(key, id, received: received, of: total)
    }

    /// Connections to the store are never shared.
    func downloadAnswered(_ id: FlightID, isMultiplexed: Bool) {}

    /// The store's address is configured, and says nothing about the origin's.
    func downloadIsLocal(_ key: CacheKey, _ id: FlightID) {}

    func flow(of key: CacheKey, _ id: FlightID) -> FlowKey? { cache.flow(of: key, id) }

    func downloadProgressed(
        _ key: CacheKey, _ id: FlightID, received: Int64, of total: Int64?, _ shape: ImageShape?
    ) {
        cache.downloadProgressed(key, id, received: received, of: total, shape)
    }

    func refusal(of key: CacheKey, _ id: FlightID, length: Int64) -> Failure? {
        cache.refusal(of: key, id, length: length)
    }

    func reserve(
        for key: CacheKey, _ id: FlightID, needed: Int64, length: Int64?
    ) throws(Failure) -> Int64 {
        try cache.reserve(for: key, id, needed: needed, length: length)
    }

    func makeRoom(for key: CacheKey, _ bytes: Int64) -> Bool { cache.makeRoom(for: key, bytes) }

    var storePatience: StorePatience? { cache.read { $0.fetching.storePatience } }

    /// The lookups of the store's name count for no user. `TransferThread.abandon(_:)` limits them.
    func downloadAbandoned(_ id: FlightID) {}

    func lookupEnded(_ id: FlightID) {}

    func downloadEnded(_ key: CacheKey, _ id: FlightID, _ end: TransferEnd) {
        var random = SystemRandomNumberGenerator()
        cache.run(with: end) { state, effects in
            switch end {
            case .staged(let image):
                state.fetching.foundInStore(
                    key, id, size: image.record.size, reuse: image.record.reuse(at: .now),
                    after: image.times.firstByte, whole: image.times.whole, &effects)
            case .confirmed(let revalidation):
                state.fetching.confirmedByStore(key, id, after: revalidation.storeTime, &effects)
            case .notInStore(let answer, let time):
                state.fetching.notInStore(
                    key, id, answer, after: time, now: .now, using: &random, &effects)
            case .failed, .crowded, .originalNeeded:
                state.fetching.notInStore(
                    key, id, .withdrawn, after: nil, now: .now, using: &random, &effects)
            }
        }
    }
}

extension TransferTimes {
    fileprivate var firstByte: Duration? { answered.map { began.duration(to: $0) } }
    fileprivate var whole: Duration? { staged.map { began.duration(to: $0) } }
}

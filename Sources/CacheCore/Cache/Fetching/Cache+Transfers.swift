import CacheDisk
import CacheFetching
internal import CacheKey
import CacheModel
import CacheValues
import HTTPCaching
import ImageFormats

/// The events of the transfer loop, which calls these on its thread. Each becomes an event of the state.
extension Cache: TransferDelegate {
    func downloadBegan(_ key: CacheKey, _ id: FlightID, received: Int64, of total: Int64?) {
        run { $0.fetching.transferBegan(key, id, with: received, of: total, &$1) }
    }

    func downloadAnswered(_ id: FlightID, isMultiplexed: Bool) {
        run { $0.fetching.transferAnswered(id, isMultiplexed: isMultiplexed, &$1) }
    }

    func downloadIsLocal(_ key: CacheKey, _ id: FlightID) {
        run { $0.fetching.transferIsLocal(key, id, &$1) }
    }

    func flow(of key: CacheKey, _ id: FlightID) -> FlowKey? {
        read { $0.fetching.flow(of: key, id) }
    }

    func downloadProgressed(
        _ key: CacheKey, _ id: FlightID, received: Int64, of total: Int64?, _ shape: ImageShape?
    ) {
        run {
            $0.fetching.transferProgressed(
                key, id, received: received, total: total, shape: shape, &$1)
        }
    }

    func downloadAbandoned(_ id: FlightID) { run { $0.fetching.transferAbandoned(id, &$1) } }

    func lookupEnded(_ id: FlightID) { run { $0.fetching.lookupEnded(id, &$1) } }

    func downloadEnded(_ key: CacheKey, _ id: FlightID, _ end: TransferEnd) {
        var random = SystemRandomNumberGenerator()
        // A confirmation is about the file that has the name now.
        if case .confirmed = end { drainWatch() }
        run(with: end) { state, effects in
            switch end {
            case .staged(let image):
                state.fetching.downloaded(image)
                state.fetching.imageStaged(
                    key, id, size: image.record.size, isShareable: image.record.isShareable,
                    &effects)
            case .confirmed(let revalidation):
                state.entryConfirmed(
                    key, id, isShareable: revalidation.record.isShareable,
                    lifetime: revalidation.lifetime, facts: facts(after: revalidation, state),
                    &effects)
            case .failed(let failed):
                state.transferFailed(key, id, failed, now: .now, using: &random, &effects)
            case .originalNeeded: state.fetching.originalNeeded(key, id, &effects)
            case .crowded: state.fetching.transferCrowded(key, id, &effects)
            case .notInStore: preconditionFailure("an origin was asked, not the store")
            }
        }
    }

    /// The facts of an entry that has been confirmed. `nil` if its record has to be written before they are believed.
    private func facts(
        after revalidation: Revalidation, _ state: borrowing CacheState
    ) -> EntryFacts? {
        let (asked, new) = (revalidation.asked, revalidation.record)
        guard directory.keepsDigests, directory.unwritten.mayConfirm, asked.digestPrefix != 0,
            new.removeAt == nil, new.fetchedAt == asked.fetchedAt,
            !state.disk.needsProbe(revalidation.key),
            var facts = state.disk.facts(of: revalidation.key), facts.size == asked.size,
            facts.fetchedAt == asked.fetchedAt, facts.digestPrefix == asked.digestPrefix
        else { return nil }
        facts.freshUntil = new.freshUntil
        return facts
    }
}

extension Revalidation {
    /// Seconds for which the entry is fresh from now on.
    fileprivate var lifetime: Int64 { record.freshUntil.map { $0 - .now } ?? 0 }
}

extension FetchingState {
    fileprivate mutating func downloaded(_ image: StagedImage) {
        let times = image.times
        guard let answered = times.answered, let staged = times.staged else { return }
        downloaded(
            image.key, image.flight, bytes: image.record.size,
            firstByte: times.began.duration(to: answered),
            whole: times.began.duration(to: staged))
    }
}

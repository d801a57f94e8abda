internal import CacheKey

/// Partials that are no longer requested.
extension Cache {
    /// Discards partials that were not requested for ``PartialPolicy/lifetime``. Also discards those with a time
    /// in the future, which a wrong clock wrote: their true age is unknown.
    func discardOldPartials(now: FileTime = .now) {
        guard directory.isInPlace else { return }
        for key in read({ $0.restingPartials }) {
            guard let time = directory.lastUse(ofPartial: key) else { continue }
            let age = now.unixTime - time.unixTime
            guard age >= PartialPolicy.lifetime || age < -60 else { continue }
            run { $0.partialExpired(key, &$1) }
        }
    }
}

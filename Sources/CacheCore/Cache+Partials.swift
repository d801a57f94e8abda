internal import CacheKey

/// Partials that nobody asks for.
extension Cache {
    /// Discards those that nobody asked for within a day, and those of a clock that was ahead: nobody knows
    /// when that was.
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

import CacheDisk
import CacheFetching
public import CacheKey
import CacheModel
import CacheValues

/// Partials that are no longer requested.
extension Cache {
    /// The partial of an image that is missing, if a download can continue it. If there is none, that takes a
    /// lookup in memory, else four system calls.
    public func restingPartial(of key: CacheKey) -> RestingPartial? {
        guard read({ $0.disk.space.partials.mayHold(key) }) else { return nil }
        return directory.restingPartial(of: key)
    }

    /// Discards partials that were not requested for ``PartialPolicy/lifetime``. Also discards those with a time
    /// in the future, which a wrong clock wrote: their true age is unknown.
    func discardOldPartials(now: FileTime = .now) {
        guard directory.isInPlace else { return }
        for key in read({ $0.fetching.restingPartials }) {
            guard let time = directory.lastUse(ofPartial: key), isOld(time, now) else { continue }
            run { $0.fetching.partialExpired(key, &$1) }
        }
    }

    private func isOld(_ time: FileTime, _ now: FileTime) -> Bool {
        let age = now.unixTime - time.unixTime
        return age >= PartialPolicy.lifetime || age < -60
    }
}

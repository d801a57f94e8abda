import CacheDisk
import CacheFetching
internal import CacheKey
import CacheValues
internal import Logging
internal import SystemPackage

/// Removing victims.
extension CacheDirectory {
    /// Removes the file of a victim; returns `false` if that fails, and logs why. Nothing is removed from a
    /// directory that was moved away, because its user may want to keep it.
    func tryRemove(_ victim: Victim, from place: Identity, _ logger: Logger) -> Bool {
        guard isInPlace(place) else { return false }
        do {
            try remove(victim)
            return true
        } catch {
            log(error, of: victim, logger)
            return false
        }
    }

    /// Removes the file of a victim. unlinkat(2).
    func remove(_ victim: Victim) throws(Errno) {
        switch victim.name {
        case .entry(let key): try unlink(key, mayBeLinked: victim.facts?.isLinked ?? true)
        case .partial(let key): try discardPartial(of: key)
        }
    }

    func log(_ error: Errno, of victim: Victim, _ logger: Logger) {
        logger.warning(
            "a file could not be removed",
            metadata: [
                "directory": "\(path)", "name": "\(victim.name)", "error": "\(error)",
                "remedy": "\(error.remedy)",
            ])
    }
}

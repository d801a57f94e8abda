internal import CacheKey
import CacheModel
import CacheValues
import HTTPCaching
internal import Logging
internal import SystemPackage

/// Storing that the origin confirmed an entry.
extension Cache {
    /// Rewrites the record of a confirmed entry and sets the modification time of its file. This runs on the
    /// directory's thread, which also publishes. The image and its inode stay.
    func confirm(_ revalidation: Revalidation) {
        let failure = write(revalidation)
        // The watch reports this change too. A probe after that shows the entry as it is, and keeps the next
        // lookup fast.
        drainWatch()
        let start = beginProbe()
        let end = failure ?? found(revalidation.key)
        drainWatch()
        run { $0.confirmed(revalidation.key, revalidation.flight, end, since: start, &$1) }
    }

    /// Returns `nil` if the entry was written.
    private func write(_ revalidation: Revalidation) -> RevalidationEnd? {
        let key = revalidation.key
        var record = revalidation.record
        record.isPinned = read { $0.isPinned(key) }
        var isSame = false
        do {
            try openingQuietly(key) { (file) throws(Errno) in
                isSame = try directory.confirm(revalidation.asked, by: record, of: key, file)
                guard isSame else { return }
                let url = revalidation.url
                let isName = CacheKey(url) == key
                try directory.writeSource(isName ? nil : url.string, of: key, file)
            }
            return isSame ? nil : .gone
        } catch .noSuchFileOrDirectory {
            return .gone
        } catch {
            return unstored(key, error)
        }
    }

    private func found(_ key: CacheKey) -> RevalidationEnd {
        do {
            guard case .entry(let facts) = try directory.probe(key) else { return .gone }
            return .stored(facts)
        } catch {
            return unstored(key, error)
        }
    }

    private func unstored(_ key: CacheKey, _ error: Errno) -> RevalidationEnd {
        logger.warning(
            "the new expiry of an image could not be stored; its origin will be asked again",
            metadata: [
                "path": "\(path(of: key))", "error": "\(error)", "remedy": "\(error.remedy)",
            ])
        return .unstored
    }
}

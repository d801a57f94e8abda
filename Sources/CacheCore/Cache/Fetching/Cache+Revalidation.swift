import CacheFetching
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
        let failure = write(
            revalidation.record, after: revalidation.asked, from: revalidation.url,
            of: revalidation.key)
        // The watch reports this change too. A probe after that shows the entry as it is, and keeps the next
        // lookup fast.
        drainWatch()
        let start = beginProbe()
        let end = failure ?? found(revalidation.key)
        drainWatch()
        run { $0.confirmed(revalidation.key, revalidation.flight, end, since: start, &$1) }
    }

    /// Keeps a confirmation that is written later. Until then it is part of what the record of the entry says.
    func keep(_ revalidation: Revalidation) {
        directory.unwritten.insert(
            revalidation.key,
            UnwrittenConfirmation(
                asked: revalidation.asked, record: revalidation.record, url: revalidation.url))
    }

    /// Writes a confirmation that was kept. If that fails, the origin is asked once more. This runs on the directory's
    /// thread.
    func writeConfirmation(of key: CacheKey) {
        guard let kept = directory.unwritten.confirmation(of: key) else { return }
        _ = write(kept.record, after: kept.asked, from: kept.url, of: key)
        directory.unwritten.remove(key, kept)
    }

    /// Returns `nil` if the entry was written.
    private func write(
        _ record: EntryRecord, after asked: EntryRecord, from url: CacheURL, of key: CacheKey
    ) -> RevalidationEnd? {
        var record = record
        record.isPinned = read { $0.fetching.isPinned(key) }
        var isSame = false
        do {
            try openingQuietly(key) { (file) throws(Errno) in
                isSame = try directory.confirm(asked, by: record, of: key, file)
                guard isSame else { return }
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

internal import CacheKey
import Glibc
internal import Logging
internal import SystemPackage

/// Storing that origins confirmed entries.
extension Cache {
    /// Rewrites the records of confirmed entries and sets the modification times of their files. This runs on the
    /// directory's thread, which also publishes. The images and their inodes stay.
    func confirm(_ revalidations: [Revalidation]) {
        let files = openQuietly(revalidations.map(\.key))
        let failures = zip(revalidations, files).map { write($0, $1) }
        // The watch reports these changes too. A probe after that shows the entries as they are, and keeps the next
        // lookup fast.
        drainWatch()
        let start = beginProbe()
        let ends = zip(revalidations, failures).map { $1 ?? found($0.key) }
        drainWatch()
        run { state, effects in
            for (revalidation, end) in zip(revalidations, ends) {
                state.confirmed(revalidation.key, revalidation.flight, end, since: start, &effects)
            }
            state.catalog.endProbe()
        }
    }

    /// Writes into an opened entry, and closes its file. Returns `nil` if the entry was written.
    private func write(
        _ revalidation: Revalidation, _ opened: Result<Int32, Errno>
    ) -> RevalidationEnd? {
        let key = revalidation.key
        var record = revalidation.record
        record.isPinned = read { $0.isPinned(key) }
        do {
            let file = try opened.get()
            defer { close(file) }
            guard try directory.confirm(revalidation.asked, by: record, of: key, file) else {
                return .gone
            }
            let url = revalidation.url
            let isName = CacheKey(url) == key
            try directory.writeSource(isName ? nil : url.string, of: key, file)
            return nil
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

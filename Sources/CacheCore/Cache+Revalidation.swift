internal import CacheKey
internal import Logging
internal import SystemPackage

/// Storing that the origin confirmed an entry.
extension Cache {
    /// Rewrites the record of a confirmed entry and sets the modification time of its file. This runs on the
    /// directory's thread, which also publishes. The image and its inode stay.
    func confirm(_ revalidation: Revalidation) {
        let end = store(revalidation)
        drainWatch()
        run { $0.confirmed(revalidation.key, revalidation.flight, end, &$1) }
        // The watch has reported this change too. A probe now keeps the next lookup fast.
        _ = lookupInPlace([revalidation.key])
    }

    private func store(_ revalidation: Revalidation) -> RevalidationEnd {
        let key = revalidation.key
        var record = revalidation.record
        record.isPinned = read { $0.isPinned(key) }
        var isSame = false
        do {
            try openingQuietly(key) { (file) throws(Errno) in
                guard let old = directory.entryRecord(of: key) else { return }
                isSame = old.isSameResponse(as: revalidation.asked)
                guard isSame else { return }
                try directory.confirm(old, by: record, of: key, file)
                let url = revalidation.url
                let isName = CacheKey(url) == key
                try directory.writeSource(isName ? nil : url.string, of: key, file)
            }
            guard isSame, case .entry(let facts) = try directory.probe(key) else { return .gone }
            return .stored(facts)
        } catch .noSuchFileOrDirectory {
            return .gone
        } catch {
            logger.warning(
                "the new expiry of an image could not be stored; its origin will be asked again",
                metadata: [
                    "path": "\(path(of: key))", "error": "\(error)", "remedy": "\(error.remedy)",
                ])
            return .unstored
        }
    }
}

extension CacheDirectory {
    /// Writes into an open entry that the origin has just confirmed it. The change is not synced: if a power
    /// failure loses it, the origin is asked once more.
    fileprivate func confirm(
        _ old: EntryRecord, by record: EntryRecord, of key: CacheKey, _ file: Int32
    ) throws(Errno) {
        // In this order: a record in memory is about the file as it is now.
        try kernel.setModificationTime(.now, of: file)
        try rewrite(record, of: key, file)
        // The old ones agree with the new ones, so nothing is wrong if the daemon is killed here.
        if record.validators != old.validators {
            try rewrite(record.validators, of: key, file)
        }
    }
}

extension EntryRecord {
    /// Whether both records belong to the same stored response.
    fileprivate func isSameResponse(as other: EntryRecord) -> Bool {
        size == other.size && fetchedAt == other.fetchedAt && validators == other.validators
    }
}

internal import CacheKey
internal import Logging
internal import SystemPackage

/// Entries the origin confirmed.
extension Cache {
    /// Rewrites a confirmed entry's record, on the directory's thread as publishing is, and says in its
    /// file when that was. The image and its inode stay.
    func confirm(_ revalidation: Revalidation) {
        let end = store(revalidation)
        drainWatch()
        run { $0.confirmed(revalidation.key, revalidation.flight, end, &$1) }
        // Their own change was noticed too; looking once now keeps the next question quick.
        _ = lookup([revalidation.key])
    }

    private func store(_ revalidation: Revalidation) -> RevalidationEnd {
        let key = revalidation.key
        var record = revalidation.record
        record.isPinned = read { $0.isPinned(key) }
        var isSame = false
        do {
            try openingQuietly(key) { (file) throws(Errno) in
                isSame =
                    directory.entryRecord(of: key)?.isSameResponse(as: revalidation.asked) == true
                if isSame { try directory.confirm(record, of: key, file) }
            }
            guard isSame, case .entry(let facts) = try directory.probe(key) else { return .gone }
            return .stored(facts)
        } catch .noSuchFileOrDirectory {
            return .gone
        } catch {
            logger.warning(
                "a record could not be rewritten; the origin will be asked again",
                metadata: [
                    "path": "\(path(of: key))", "error": "\(error)", "remedy": "\(error.remedy)",
                ])
            return .unstored
        }
    }
}

extension CacheDirectory {
    /// Writes into an open entry that the origin has just confirmed it. Durable with the next writing of
    /// the file system, not at once: what a power cut loses costs one question.
    fileprivate func confirm(
        _ record: EntryRecord, of key: CacheKey, _ file: Int32
    ) throws(Errno) {
        try rewrite(record, of: key, file)
        try kernel.setModificationTime(.now, of: file)
    }
}

extension EntryRecord {
    /// Whether both speak of one response, stored once.
    fileprivate func isSameResponse(as other: EntryRecord) -> Bool {
        size == other.size && fetchedAt == other.fetchedAt && validators == other.validators
    }
}

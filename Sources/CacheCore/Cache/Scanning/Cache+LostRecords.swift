internal import CacheKey
import CacheModel
import CacheValues
import ImageFormats
internal import Logging
internal import SystemPackage

/// Entries whose records are lost, because the file system keeps no attributes and an earlier daemon fetched them.
extension Cache {
    /// Tells the types of such entries from their bytes, once. Completes the answers about them.
    func recoverRecords(of keys: [CacheKey], _ view: LookupView, _ answers: inout [Lookup]) {
        for (place, key) in keys.enumerated() {
            guard case .cached(let facts, _, _) = answers[place], facts.mediaType == .other,
                isRecovered(key)
            else { continue }
            answers[place] = probe(key, view)
        }
    }

    /// Reads the beginning of a file if its record is lost. Returns whether the record says more now.
    private func isRecovered(_ key: CacheKey) -> Bool {
        do {
            guard try !directory.hasRecordInMemory(key) else { return false }
            try openingQuietly(key) { (file) throws(Errno) in
                try directory.recoverRecord(of: key, file)
            }
            return true
        } catch {
            logger.debug(
                "the type of an image could not be told",
                metadata: ["path": "\(path(of: key))", "error": "\(error)"])
            return false
        }
    }

    /// The same entries with their types.
    func recovered(_ page: [ListedEntry]) -> [ListedEntry] {
        zip(page, lookup(page.map(\.key))).map { entry, answer in
            guard case .cached(let facts, _, _) = answer else { return entry }
            return ListedEntry(key: entry.key, facts: facts)
        }
    }
}

import CacheFetching
internal import CacheKey
import CacheValues
import ImageFormats
internal import Logging
internal import SystemPackage

/// Entries whose records are lost, because the file system keeps no attributes and an earlier daemon fetched them.
extension Cache {
    /// Determines the types of such entries from their bytes, once. Returns the new answers about them, with their
    /// positions.
    func recovered(
        _ keys: [CacheKey], _ view: LookupView = .newest, isUnknown: (Int) -> Bool
    ) -> [(place: Int, answer: Lookup)] {
        directory.records.lost(keys, isUnknown: isUnknown).filter { isRecovered(keys[$0]) }
            .map { ($0, probe(keys[$0], view)) }
    }

    private func isRecovered(_ key: CacheKey) -> Bool {
        do {
            try openingQuietly(key) { (file) throws(Errno) in
                try directory.records.recover(key, file)
            }
            return true
        } catch {
            logger.debug(
                "the type of an image could not be determined",
                metadata: ["path": "\(path(of: key))", "error": "\(error)"])
            return false
        }
    }
}

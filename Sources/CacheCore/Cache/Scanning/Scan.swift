import CacheDisk
import CacheFetching
internal import CacheKey
import CacheModel
import CacheValues
internal import Logging
internal import SystemPackage

/// Reads the directory into the index while the cache already answers: the names in batches, then the order of use
/// by access time. Repeated if changes were lost during the scan.
struct Scan {
    private typealias Seen = (key: CacheKey, lastUsedAt: FileTime)

    let cache: Cache
    let logger: Logger

    func run() {
        do {
            var entries: Int
            repeat { entries = try scanOnce() } while !cache.scanFinished(isReadable: true)
            // A draining cache cuts the scan short.
            guard !cache.isDraining else { return }
            logger.info("directory scanned", metadata: ["entries": "\(entries)"])
        } catch {
            _ = cache.scanFinished(isReadable: false)
            logger.error(
                "the directory can't be read; until it can, every question probes the file",
                metadata: [
                    "directory": "\(cache.directory.path)", "error": "\(error)",
                    "remedy": "\(error.remedy)",
                ])
        }
    }

    /// Returns the number of entries found.
    private func scanOnce() throws(Errno) -> Int {
        // The order of use is read from the files, so known uses are written to them first.
        cache.flushAccessTimes()
        cache.run { state, _ in state.disk.scanBegan() }
        let seen = try readDirectory()
        probeRest(seen)
        sort(seen)
        return seen.count
    }

    private func readDirectory() throws(Errno) -> [Seen] {
        var seen: [Seen] = []
        try cache.directory.scan(
            begin: { cache.beginProbe() },
            batch: { batch, start in
                for item in batch {
                    guard case .entry(let key, .entry(let facts)) = item else { continue }
                    seen.append((key, facts.lastUsedAt))
                }
                cache.takeScanned(batch, since: start)
                return !cache.isDraining
            })
        return seen
    }

    /// Probes the entries of the index that were not found in the directory: they can have gone unnoticed.
    private func probeRest(_ seen: [Seen]) {
        let found = Set(seen.map(\.key))
        var position = 0
        var hasMore = true
        while hasMore, !cache.isDraining {
            let stretch = cache.readStretch(&position)
            hasMore = stretch.hasMore
            let missed = stretch.entries.map(\.key).filter { !found.contains($0) }
            guard !missed.isEmpty else { continue }
            let start = cache.beginProbe()
            let batch = missed.map { key in
                cache.directory.probe(.entry(key), key.description)
            }
            cache.takeScanned(batch, since: start)
        }
    }

    private func sort(_ seen: [Seen]) {
        let sorted = seen.sorted { ($0.lastUsedAt, $0.key) > ($1.lastUsedAt, $1.key) }
        for stretch in sorted.chunks(ofCount: CacheDirectory.scanBatch) where !cache.isDraining {
            cache.run { state, _ in state.disk.sort(stretch) }
        }
    }
}

extension Cache {
    func beginProbe() -> ChangeEpochs.Start {
        run { state, _ in state.disk.beginProbe() }
    }

    /// Takes in a batch of probed names, without those that changed since they were probed.
    func takeScanned(_ batch: [ScannedName], since start: ChangeEpochs.Start) {
        drainWatch()
        run { $0.scanned(batch, since: start, &$1) }
    }

    var isDraining: Bool {
        read { $0.fetching.isDraining }
    }
}

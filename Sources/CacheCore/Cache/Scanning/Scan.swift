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
        let count = try readDirectory()
        probeRest()
        sort()
        return count
    }

    private func readDirectory() throws(Errno) -> Int {
        var count = 0
        try cache.directory.scan(
            begin: { cache.beginProbe() },
            batch: { batch, start in
                for case .entry(_, .entry) in batch { count += 1 }
                cache.takeScanned(batch, since: start)
                return !cache.isDraining
            })
        return count
    }

    /// Probes the entries of the index that were not found in the directory: they can have gone unnoticed.
    private func probeRest() {
        var position = 0
        var hasMore = true
        while hasMore, !cache.isDraining {
            var missed: [CacheKey] = []
            hasMore = cache.read {
                $0.disk.index.readUnscanned(&position) { missed.append($0) }
            }
            guard !missed.isEmpty else { continue }
            let start = cache.beginProbe()
            let batch = missed.map { key in
                cache.directory.probe(.entry(key), key.description)
            }
            cache.takeScanned(batch, since: start)
        }
    }

    // MARK: The order of use

    /// The most uses that are sorted at a time. A list of all would take a third of the memory of the index.
    private static let part = 1 << 17

    /// Sorts all entries by their last use, the latest part first.
    private func sort() {
        var last: Use?
        var isWhole = false
        while !isWhole, !cache.isDraining {
            let part = latest(before: last)
            for stretch in part.chunks(ofCount: CacheDirectory.scanBatch) where !cache.isDraining {
                cache.run { state, _ in state.disk.sort(stretch) }
            }
            last = part.last
            isWhole = part.count < Self.part
        }
    }

    /// The latest uses before another one, the latest first.
    private func latest(before end: Use?) -> [Use] {
        var part: [Use] = []
        // Once the part was full, earlier uses are none of the latest.
        var floor: Use?
        var position = 0
        var hasMore = true
        while hasMore {
            hasMore = cache.read { state in
                state.disk.index.readUses(&position) { use in
                    if end.map({ use < $0 }) != false, floor.map({ use > $0 }) != false {
                        part.append(use)
                    }
                }
            }
            guard part.count >= 2 * Self.part || !hasMore else { continue }
            part.sort(by: >)
            part.removeLast(max(part.count - Self.part, 0))
            if part.count == Self.part { floor = part.last }
        }
        return part
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

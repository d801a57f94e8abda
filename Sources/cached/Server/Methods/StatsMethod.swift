import CacheCore
import CacheFetching
import CacheValues
import CacheWire
import Glibc
import NIOCore

/// `Stats`: one flat object of gauges, and of counters since the start; and histograms.
enum StatsMethod {
    static func writeReply(from server: ServerContext, to output: inout ByteBuffer) {
        server.replies.write(Reply(reply(from: server)), to: &output)
    }

    private static func reply(from server: ServerContext) -> Methods.Stats.Reply {
        let metrics = server.cache.statistics()
        let streams = server.broadcaster.metrics
        let stats: [String: JSONValue] = [
            "version": .string(Version.current),
            "directory": .string(server.whereabouts.directory),
            "socket": .string(server.whereabouts.socket),
            "curlVersion": .string(Cache.curlVersion),
            "build": .string(build),
            "startedAt": .int(Int(server.startTime.rawValue)),
            "processorSeconds": .double(processorSeconds),
            "residentBytes": .int(ProcessMemory.residentBytes ?? 0),
            "anonymousBytes": .int(ProcessMemory.anonymousBytes ?? 0),
            "connections": .int(server.connections.count),
            "calls": .int(server.registry.calls),
            "uptimeSeconds": .int(Int((.now - server.startedAt).components.seconds)),
            "entries": .int(metrics.entries),
            "partials": .int(metrics.partials),
            "bytesUsed": .int(Int(metrics.bytesUsed)),
            "bytesBudget": .int(Int(metrics.bytesBudget)),
            "bytesMinFree": .int(Int(metrics.bytesMinimumFree)),
            "bytesAllowed": .int(Int(metrics.bytesAllowed)),
            "bytesReserved": .int(Int(metrics.bytesReserved)),
            "entriesPinned": .int(metrics.pinned.entries),
            "bytesPinned": .int(Int(metrics.pinned.bytes)),
            "entriesShared": .int(metrics.duplicates.entries),
            "bytesShared": .int(Int(metrics.duplicates.bytes)),
            "isIndexed": .bool(metrics.isWhole),
            "isDirectoryInPlace": .bool(metrics.isDirectoryInPlace),
            "isDirectoryWritable": .bool(metrics.isDirectoryWritable),
            "pressureLevel": .string(server.pressureNews.level.rawValue),
            "watchers": .int(streams.streams),
            "changesEncoded": .int(streams.changesEncoded),
            "transfersRunning": .int(metrics.transfersRunning),
            "transfersQueued": .int(metrics.transfersQueued),
            "hits": .int(metrics.hits),
            "staleAnswers": .int(metrics.staleAnswers),
            "misses": .int(metrics.misses),
            "joined": .int(metrics.joined),
            "published": .int(metrics.published),
            "derived": .int(metrics.derived),
            "revalidated": .int(metrics.revalidated),
            "failed": .int(metrics.failed),
            "failuresRepeated": .int(metrics.failuresRepeated),
            "retried": .int(metrics.retried),
            "removed": .int(metrics.removed),
            "damaged": .int(metrics.damaged),
            "withdrawn": .int(metrics.withdrawn.entries),
            "refused": .int(metrics.refused),
            "evicted": .int(metrics.evicted.entries),
            "bytesEvicted": .int(Int(metrics.evicted.bytes)),
            "pagesDroppedEntries": .int(metrics.dropped.entries),
            "pagesDroppedBytes": .int(Int(metrics.dropped.bytes)),
            "bytesReceived": .int(Int(metrics.bytesReceived)),
        ]
        let pressure = server.relief.record.metrics(source: server.pressure.source)
            .merging(networkFigures(of: server.cache)) { metric, _ in metric }
            .merging(metrics.store?.figures ?? [:]) { metric, _ in metric }
        return Methods.Stats.Reply(
            stats: stats.merging(pressure) { metric, _ in metric }, histograms: histograms(metrics),
            failures: metrics.failures, users: users(metrics, server.connections.byUser))
    }

    private static func users(
        _ metrics: Statistics, _ connections: [UserID: Int]
    ) -> [UserShare] {
        let all = Set(connections.keys).union(metrics.runningByUser.keys)
            .union(metrics.waitingByUser.keys).subtracting([.daemon])
        return all.sorted { $0.rawValue < $1.rawValue }.map { user in
            UserShare(
                user: Int(user.rawValue), connections: connections[user] ?? 0,
                downloads: metrics.runningByUser[user] ?? 0,
                waiting: metrics.waitingByUser[user] ?? 0)
        }
    }

    private static func histograms(_ metrics: Statistics) -> [String: Histogram] {
        [
            "firstByteSeconds": Histogram(metrics.firstByteTimes),
            "downloadSeconds": Histogram(metrics.downloadTimes),
            "publishSeconds": Histogram(metrics.publishTimes),
            "imageBytes": Histogram(metrics.imageSizes),
        ]
    }

    /// How the compiler built the program.
    private static var build: String {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }

    /// The time that all threads have spent on a processor, in seconds. getrusage(2).
    private static var processorSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) {
            $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1_000_000
        }
    }
}

extension Histogram {
    fileprivate init(_ values: Distribution) {
        self.init(bounds: values.bounds, counts: values.counts, sum: values.sum)
    }
}

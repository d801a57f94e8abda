import CacheWire
import Glibc
import Synchronization
import TestSupport

/// All users of the cache, and everything that disturbs it, each on its own thread; and their results.
final class SoakLoad: Sendable {
    struct Tally: Sendable {
        /// How often each kind of work was done.
        var done: [String: Int] = [:]
        /// Requested images that are cached, and requests that failed as expected.
        var cached = 0
        var provoked = 0
        /// Unexpected results.
        var errors: [String] = []
    }

    let environment: SoakEnvironment
    private let tally = Mutex(Tally())
    private let isOver = Mutex(false)

    init(environment: SoakEnvironment) {
        self.environment = environment
    }

    /// Runs all workers for this time, then checks the state of the cache.
    func run(for time: Duration, figures: inout [String]) async throws {
        let samples = try await withThrowingTaskGroup(of: [ProcessUsage].self) { group in
            for (number, worker) in workers.enumerated() {
                group.addTask {
                    try await offPool {
                        try self.work(worker, SeededGenerator(seed: testSeed &+ UInt64(number)))
                    }
                    return []
                }
            }
            group.addTask {
                try await offPool {
                    defer { self.isOver.withLock { $0 = true } }
                    return try self.watch(for: time)
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let tally = tally.withLock { $0 }
        figures += tally.done.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        figures += ["\(tally.cached) cached", "\(tally.provoked) provoked errors"]
        guard tally.errors.isEmpty else {
            throw TestFailure("\(tally.errors.count) errors: \(tally.errors.prefix(5))")
        }
        guard tally.cached > 0 else { throw TestFailure("no image was cached") }
        try await checkLedger(&figures)
        try SoakTrend(samples).check(&figures)
    }

    /// Does one kind of work repeatedly until the time is over.
    private func work(_ worker: SoakWorker, _ generator: SeededGenerator) throws {
        var random = generator
        var turn = 0
        while !isOver.withLock({ $0 }) {
            turn += 1
            do {
                let outcome = try worker.act(environment, turn, &random)
                tally.withLock { tally in
                    tally.done[worker.name, default: 0] += 1
                    tally.cached += outcome.cached
                    tally.provoked += outcome.provoked
                    tally.errors += outcome.errors.map { "\(worker.name): \($0)" }
                }
            } catch {
                tally.withLock { $0.errors.append("\(worker.name): \(error)") }
            }
            if worker.pause > 0 { poll(nil, 0, worker.pause) }
        }
    }

    /// Measures the daemon from outside, a hundred times in total and at least once a second.
    private func watch(for time: Duration) throws -> [ProcessUsage] {
        let end = ContinuousClock.now + time
        let pause = min(max(Int32(time / .milliseconds(100)), 50), 1000)
        var samples: [ProcessUsage] = []
        while ContinuousClock.now < end {
            samples.append(try ProcessUsage(of: environment.daemon.process.pid))
            poll(nil, 0, pause)
        }
        return samples
    }

    /// Once the daemon is idle, the statistics agree with the disk, and foreign files are unchanged.
    private func checkLedger(_ figures: inout [String]) async throws {
        let directory = environment.daemon.directory
        let environment = environment
        let last = Mutex("")
        let usage: DirectoryUsage
        do {
            usage = try await eventually("the statistics to agree with the disk") {
                let stats = try await offPool { try environment.statistics() }
                let usage = try DirectoryUsage(of: directory)
                let isTrue =
                    stats["bytesUsed"] == .int(usage.bytes)
                    && stats["entries"] == .int(usage.entries)
                    && stats["transfersRunning"] == .int(0)
                last.withLock { $0 = "on the disk: \(usage); statistics: \(stats)" }
                return isTrue ? usage : nil
            }
        } catch {
            throw TestFailure("\(error); \(last.withLock(\.self))")
        }
        figures.append("\(usage.bytes) bytes in \(usage.entries) entries, as on the disk")
        try environment.checkForeignFiles()
        try environment.checkEntries()
        let stats = try await offPool { try environment.statistics() }
        for name in ["published", "evicted", "removed", "pressureReactions", "revalidated"]
        where stats[name] == .int(0) { throw TestFailure("nothing was \(name)") }
    }
}

import CacheWire
import Glibc
import Synchronization
import TestSupport

/// Everybody who uses or disturbs the cache, each on a thread of its own, and what came of it.
final class SoakLoad: Sendable {
    struct Tally: Sendable {
        /// How often each kind of work was done.
        var done: [String: Int] = [:]
        /// Images that were wanted and are there, and those that failed as they should.
        var cached = 0
        var provoked = 0
        /// What should not have happened.
        var errors: [String] = []
    }

    let environment: SoakEnvironment
    private let tally = Mutex(Tally())
    private let isOver = Mutex(false)

    init(environment: SoakEnvironment) {
        self.environment = environment
    }

    /// Works for so long, and checks what is left then.
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

    /// Does one kind of work again and again until all is over.
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

    /// Looks at the daemon from outside, a hundred times in all and at least once a second.
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

    /// The books say what the disk says, once nothing is under way, and foreignFiles' files are as they were.
    private func checkLedger(_ figures: inout [String]) async throws {
        let directory = environment.daemon.directory
        let environment = environment
        let said = try await eventually("the books to be what the disk says") {
            let stats = try await offPool { try environment.statistics() }
            let usage = try DirectoryUsage(of: directory)
            let isTrue =
                stats["bytesUsed"] == .int(usage.bytes) && stats["entries"] == .int(usage.entries)
                && stats["transfersRunning"] == .int(0)
            return isTrue ? usage : nil
        }
        figures.append("\(said.bytes) bytes in \(said.entries) entries, as the disk says")
        try environment.checkForeignFiles()
        try environment.checkEntries()
        let stats = try await offPool { try environment.statistics() }
        for name in ["published", "evicted", "removed", "pressureReactions", "revalidated"]
        where stats[name] == .int(0) { throw TestFailure("nothing was \(name)") }
    }
}

/// How what a process uses went over time.
struct SoakTrend {
    let samples: [ProcessUsage]

    init(_ samples: [ProcessUsage]) {
        self.samples = samples
    }

    /// From the second quarter to the last nothing grew: the first is for warming up.
    func check(_ figures: inout [String]) throws {
        let quarter = samples.count / 4
        let (early, late) = (samples[quarter..<(2 * quarter)], samples.suffix(quarter))
        let memory = (median(early, \.anonymousBytes), median(late, \.anonymousBytes))
        figures.append("RssAnon \(memory.0 >> 10) kiB early, \(memory.1 >> 10) late")
        let descriptors = (median(early, \.descriptors), median(late, \.descriptors))
        let threads = (median(early, \.threads), median(late, \.threads))
        figures.append("\(descriptors.0) descriptors early, \(descriptors.1) late")
        figures.append("\(threads.0) threads early, \(threads.1) late")
        // A sanitizer keeps what was freed.
        guard isSanitized || memory.1 <= memory.0 + memory.0 / 20 + 2 << 20 else {
            throw TestFailure("memory grew from \(memory.0) to \(memory.1) bytes")
        }
        // As many come and go as downloads run.
        guard descriptors.1 <= descriptors.0 + 64, threads.1 <= threads.0 + 4 else {
            throw TestFailure("descriptors grew to \(descriptors.1), threads to \(threads.1)")
        }
    }

    private func median(
        _ samples: some Sequence<ProcessUsage>, _ figure: (ProcessUsage) -> Int
    ) -> Int {
        let sorted = samples.map(figure).sorted()
        return sorted[sorted.count / 2]
    }
}

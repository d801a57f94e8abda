import CacheWire
import Glibc
import TestSupport

/// The resources a daemon used at one moment, to check later that it still answers quickly and uses no
/// more than then.
struct ResourceBaseline: Sendable, Comparable {
    private let daemon: DaemonFixture
    private let before: ProcessUsage

    /// Memory that the allocator can keep beyond what is in use: its arenas grow and shrink by whole
    /// megabytes.
    private static let allocatorSlack = 2 << 20

    /// Measures the daemon once it is idle. It should have warmed up: its threads run, its buffers have
    /// their size.
    init(_ daemon: DaemonFixture) async throws {
        self.daemon = daemon
        try await Self.waitUntilIdle(daemon)
        before = try ProcessUsage(of: daemon.process.pid)
    }

    /// The memory the daemon used at that moment.
    var kibibytes: Int { Int(before.anonymousBytes >> 10) }

    /// Compares by the memory used.
    static func < (left: ResourceBaseline, right: ResourceBaseline) -> Bool {
        left.before.anonymousBytes < right.before.anonymousBytes
    }

    static func == (left: ResourceBaseline, right: ResourceBaseline) -> Bool {
        left.before.anonymousBytes == right.before.anonymousBytes
    }

    /// A new connection is answered within a second.
    static func expectAnswer(from daemon: DaemonFixture) async throws {
        let watch = Stopwatch()
        _ = try await offPool {
            try Client(paths: [daemon.socket]).call(
                Methods.Status.self, .init(urls: ["http://127.0.0.1:1/a.png"]))
        }
        let time = watch.time
        guard time < .seconds(1) else { throw TestFailure("a status call took \(time)") }
    }

    /// The daemon answers, and once it is idle it has no more descriptors and threads than before and at
    /// most 5 % more memory. Returns the figures measured.
    ///
    /// - Parameter other: another measurement; the smaller memory of it and of now counts.
    func expectNoGrowth(orIn other: ResourceBaseline? = nil) async throws -> [String] {
        try await Self.expectAnswer(from: daemon)
        try await Self.waitUntilIdle(daemon)
        // Connections and resolver threads end a little after their work.
        var after = try ProcessUsage(of: daemon.process.pid)
        try await waitUntil("\(before.descriptors) descriptors, not \(after.descriptors)") {
            after = try ProcessUsage(of: daemon.process.pid)
            return after.descriptors <= before.descriptors && after.threads <= before.threads
        }
        let least = min(after.anonymousBytes, other?.before.anonymousBytes ?? .max)
        let growth = least - before.anonymousBytes
        let allowed = before.anonymousBytes / 20 + Self.allocatorSlack
        // The short form ends before the daemon has warmed up.
        guard growth <= allowed || !isLongForm else {
            throw TestFailure(
                "memory grew from \(before.anonymousBytes) to \(least) bytes")
        }
        let percent = Double(growth) * 100 / Double(before.anonymousBytes)
        return [
            "\(after.descriptors) descriptors", "\(after.threads) threads",
            "RssAnon \(before.anonymousBytes >> 10) kiB before, \(least >> 10) after"
                + " (\((percent * 10).rounded() / 10) %)",
        ]
    }

    /// Waits until no download is running or queued. Critical pressure makes the daemon close its idle
    /// connections to origins and release the memory that its allocator holds.
    private static func waitUntilIdle(_ daemon: DaemonFixture) async throws {
        _ = try await offPool {
            try Client(paths: [daemon.socket]).call(Methods.Pressure.self, .init(level: .critical))
        }
        try await waitUntil("the end of all downloads") {
            let stats = try await offPool {
                try Client(paths: [daemon.socket]).call(Methods.Stats.self, .init()).stats
            }
            return stats["transfersRunning"] == .int(0) && stats["transfersQueued"] == .int(0)
        }
    }
}

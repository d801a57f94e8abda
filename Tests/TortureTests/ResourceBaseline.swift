import CacheWire
import Glibc
import TestSupport

/// Looks after a daemon that is maltreated: that it still answers at once, and uses no more than before.
struct ResourceBaseline: Sendable, Comparable {
    private let daemon: DaemonFixture
    private let before: ProcessUsage

    /// What the allocator may keep beyond what was in use: its arenas grow and shrink by whole
    /// megabytes.
    private static let allocatorSlack = 2 << 20

    /// Begins once the daemon has warmed up: its threads are there, its buffers at their size.
    init(_ daemon: DaemonFixture) async throws {
        self.daemon = daemon
        try await Self.waitUntilIdle(daemon)
        before = try ProcessUsage(of: daemon.process.pid)
    }

    /// The memory the daemon had at the beginning.
    var kibibytes: Int { Int(before.anonymousBytes >> 10) }

    /// By the memory the daemon had at the beginning.
    static func < (left: ResourceBaseline, right: ResourceBaseline) -> Bool {
        left.before.anonymousBytes < right.before.anonymousBytes
    }

    static func == (left: ResourceBaseline, right: ResourceBaseline) -> Bool {
        left.before.anonymousBytes == right.before.anonymousBytes
    }

    /// A fresh connection is answered within a second.
    static func expectAnswer(from daemon: DaemonFixture) async throws {
        let watch = Stopwatch()
        _ = try await offPool {
            try Client(paths: [daemon.socket]).call(
                Methods.Status.self, .init(urls: ["http://127.0.0.1:1/a.png"]))
        }
        let time = watch.time
        guard time < .seconds(1) else { throw TestFailure("a status answer took \(time)") }
    }

    /// The daemon answers, and once all is quiet it holds as many descriptors and threads as before and
    /// at most 5 % more memory. Says what it holds.
    ///
    /// - Parameter other: when it may have held less memory than now.
    func expectNoGrowth(orIn other: ResourceBaseline? = nil) async throws -> [String] {
        try await Self.expectAnswer(from: daemon)
        try await Self.waitUntilIdle(daemon)
        // Connections and threads that resolve names end a little after the work.
        var after = try ProcessUsage(of: daemon.process.pid)
        try await waitUntil("\(before.descriptors) descriptors, not \(after.descriptors)") {
            after = try ProcessUsage(of: daemon.process.pid)
            return after.descriptors <= before.descriptors && after.threads <= before.threads
        }
        let least = min(after.anonymousBytes, other?.before.anonymousBytes ?? .max)
        let growth = least - before.anonymousBytes
        let allowed = before.anonymousBytes / 20 + Self.allocatorSlack
        // A short form ends before the daemon has warmed up.
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

    /// Waits until no download is under way, and none waits. Being short of memory, the daemon then closes
    /// its idle connections to origins, and gives back what its allocator holds.
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

import CacheKey
import CacheWire
import Glibc
import Synchronization
import TestSupport
import Testing

/// A daemon with random operations, and watchers whose view is compared with it.
final class WatchWorkload: Sendable {
    private let daemon: DaemonFixture
    private let urls: [String]
    private let backup: String
    /// A URL that always fails when fetched; all watchers get the failure.
    private let sentinel: String
    /// Whether all operations have finished.
    private let isQuiet = Atomic(false)
    /// The number of watchers that still replace their sets.
    private let activeWatchers = Atomic(0)

    /// The number of operations, and of sets that each watcher watches.
    let operations = isLongForm ? 6000 : 300
    private let sets = isLongForm ? 400 : 25

    init(in scope: TestScope) async throws {
        let origin = try ScriptedOrigin(in: scope)
        sentinel = origin.url("/none.png")
        urls = (0..<60).map { origin.url("/\($0).png") }
        for number in 0..<60 {
            let image = SampleImage.png(byteCount: 20_000, seed: number)
            let path = "/\(number).png"
            switch number % 6 {
            case 0: origin.route(path, .trickled(image, bytesPerSecond: 100_000))
            case 1: origin.route(path, .cut(image, after: 9000))
            case 2: origin.route(path, .answer(404))
            default: origin.route(path, .answer(body: image))
            }
        }
        backup = try TemporaryDirectory(in: scope).path
        daemon = try await DaemonFixture.start(["--max-entries", "30"], in: scope)
        try await daemon.waitForScan()
    }

    // MARK: Operations

    /// Performs random operations until all watchers have finished; then waits until the daemon is idle.
    func runOperations() async throws {
        var random = SeededGenerator(seed: testSeed)
        let connection = try daemon.connect()
        for number in 0..<operations {
            try await operate(number, connection, &random)
        }
        // While a watcher waits for a change, there must be one.
        while activeWatchers.load(ordering: .relaxed) > 0 {
            try await operate(0, connection, &random)
        }
        try await waitUntil("the daemon to be idle") {
            let stats = try await connection.ask(call("Stats")).parameters?.stats
            return stats?["transfersRunning"] == 0 && stats?["transfersQueued"] == 0
        }
        isQuiet.store(true, ordering: .releasing)
        // Watchers that still wait for a change receive this one.
        _ = try await connection.ask(call("Fetch", [sentinel], parameters: #""refresh":true"#))
    }

    private func operate(
        _ number: Int, _ connection: VarlinkConnection, _ random: inout SeededGenerator
    ) async throws {
        let some = (0..<Int.random(in: 1...8, using: &random)).map { _ in
            urls.randomElement(using: &random) ?? urls[0]
        }
        switch Int.random(in: 0..<12, using: &random) {
        case 0...4: _ = try await connection.ask(call("Fetch", some, parameters: #""wait":false"#))
        case 5: _ = try await connection.ask(call("Remove", some))
        case 6: _ = try await connection.ask(call("Pin", some, parameters: #""pinned":false"#))
        case 7: _ = try await connection.ask(call("Pin", [some[0]], parameters: #""pinned":true"#))
        case 8: _ = try await connection.ask(call("Evict", parameters: #""toBytes":300000"#))
        case 9: for url in some { unlink(try daemon.path(url)) }
        case 10:
            // Moves a file away and an earlier one back, as restoring a backup does.
            rename(try daemon.path(some[0]), "\(backup)/\(number % 20)")
            rename("\(backup)/\((number + 7) % 20)", try daemon.path(some[0]))
        default:
            // A caller that leaves before its fetch is finished.
            let other = try daemon.connect()
            try await other.send(call("Fetch", some, parameters: #""refresh":true"#) + "\0")
            _ = try await connection.ask(call("Status", some))
            other.shutdown()
        }
    }

    // MARK: Watchers

    /// Watches one set after the other, then compares. Returns the number of replies received.
    func watch(_ number: Int) async throws -> Int {
        activeWatchers.add(1, ordering: .relaxed)
        var random = SeededGenerator(seed: testSeed &+ UInt64(number))
        let watcher = try Watcher(daemon)
        for _ in 0..<sets {
            try await watcher.watch(randomSet(&random))
            switch Int.random(in: 0..<4, using: &random) {
            // The set is replaced before anything was read.
            case 0: break
            case 1: try await watcher.takeUpToLatest()
            default:
                try await watcher.takeUpToLatest()
                for _ in 0..<Int.random(in: 1...3, using: &random) { try await watcher.take() }
            }
        }
        try await watcher.takeUpToLatest()
        activeWatchers.subtract(1, ordering: .relaxed)
        while !isQuiet.load(ordering: .acquiring) { try await watcher.take() }
        try await compare(watcher)
        return watcher.replies
    }

    /// Everything, or a random set.
    private func randomSet(_ random: inout SeededGenerator) -> [String]? {
        guard Int.random(in: 0..<3, using: &random) > 0 else { return nil }
        let count = Int.random(in: 10...60, using: &random)
        return [sentinel] + urls.shuffled(using: &random).prefix(count)
    }

    /// Reads the remaining replies until the watcher's view equals the actual state.
    private func compare(_ watcher: Watcher) async throws {
        let answer = try await daemon.ask(call("Status", urls))
        let here = answer.items.filter { $0.state != .missing }.map(\.key)
        let truth = Set(here).intersection(watcher.watchedSet ?? Set(here))
        func view() -> Set<String> {
            Set(watcher.items.values.filter { $0.state != .missing }.map(\.key))
        }
        do {
            while view() != truth { try await watcher.take() }
        } catch {
            throw TestFailure(
                """
                seed \(testSeed): wrongly present: \(view().subtracting(truth)), \
                wrongly absent: \(truth.subtracting(view())): \(error)
                """)
        }
    }
}

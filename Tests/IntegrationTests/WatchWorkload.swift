import CacheKey
import CacheWire
import Glibc
import Synchronization
import TestSupport
import Testing

/// A daemon where everything moves at random, and watchers that compare what they were told with it.
final class WatchWorkload: Sendable {
    private let daemon: DaemonFixture
    private let urls: [String]
    private let backup: String
    /// Never here; asked for, it fails, which all watchers hear.
    private let sentinel: String
    /// Whether everything holds still.
    private let isQuiet = Atomic(false)
    private let activeWatchers = Atomic(0)

    /// Operations, and sets each watcher watches one after the other.
    let operations = isLongForm ? 6000 : 300
    private let sets = isLongForm ? 400 : 25

    init(in scope: TestScope) async throws {
        let origin = try ScriptedOrigin(in: scope)
        sentinel = origin.url("/none.png")
        urls = (0..<60).map { origin.url("/\($0).png") }
        for number in 0..<60 {
            let image = SampleImage.png(byteCount: 20_000, seed: UInt8(number))
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

    // MARK: What moves

    /// Does what users and strangers do, until all is done; then waits until nothing is under way.
    func runOperations() async throws {
        var random = SeededGenerator(seed: testSeed)
        let connection = try daemon.connect()
        for number in 0..<operations {
            try await operate(number, connection, &random)
        }
        // As long as somebody waits for a change there is one.
        while activeWatchers.load(ordering: .relaxed) > 0 {
            try await operate(0, connection, &random)
        }
        try await waitUntil("nothing to be under way") {
            let stats = try await connection.ask(call("Stats")).parameters?.stats
            return stats?["transfersRunning"] == 0 && stats?["transfersQueued"] == 0
        }
        isQuiet.store(true, ordering: .releasing)
        // Whoever still waits for a change hears this one.
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
            // A copy is put back later, as a backup would.
            rename(try daemon.path(some[0]), "\(backup)/\(number % 20)")
            rename("\(backup)/\((number + 7) % 20)", try daemon.path(some[0]))
        default:
            // Somebody who leaves before it is here.
            let other = try daemon.connect()
            try await other.send(call("Fetch", some, parameters: #""refresh":true"#) + "\0")
            _ = try await connection.ask(call("Status", some))
            other.shutdown()
        }
    }

    // MARK: Who watches

    /// Watches one set after the other; at the end compares. The number of replies it took.
    func watch(_ number: Int) async throws -> Int {
        activeWatchers.add(1, ordering: .relaxed)
        var random = SeededGenerator(seed: testSeed &+ UInt64(number))
        let watcher = try Watcher(daemon)
        for _ in 0..<sets {
            try await watcher.watch(randomSet(&random))
            switch Int.random(in: 0..<4, using: &random) {
            // Replaced before anything was read.
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

    /// Everything, or some.
    private func randomSet(_ random: inout SeededGenerator) -> [String]? {
        guard Int.random(in: 0..<3, using: &random) > 0 else { return nil }
        let count = Int.random(in: 10...60, using: &random)
        return [sentinel] + urls.shuffled(using: &random).prefix(count)
    }

    /// Whatever was not heard yet comes now, and then it believes what is so.
    private func compare(_ watcher: Watcher) async throws {
        let answer = try await daemon.ask(call("Status", urls))
        let here = answer.items.filter { $0.state != .missing }.map(\.key)
        let truth = Set(here).intersection(watcher.watchedSet ?? Set(here))
        func belief() -> Set<String> {
            Set(watcher.items.values.filter { $0.state != .missing }.map(\.key))
        }
        do {
            while belief() != truth { try await watcher.take() }
        } catch {
            throw TestFailure(
                """
                seed \(testSeed): believes \(belief().subtracting(truth)) to be here, \
                and not \(truth.subtracting(belief())): \(error)
                """)
        }
    }
}

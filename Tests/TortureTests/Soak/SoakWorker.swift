import CLinux
import CacheKey
import CacheWire
import Foundation
import Glibc
import TestSupport

/// One kind of work on the cache that is repeated.
struct SoakWorker: Sendable {
    /// The result of one iteration.
    struct Outcome {
        var cached = 0
        var provoked = 0
        var errors: [String] = []
    }

    let name: String
    /// Milliseconds between two iterations.
    let pause: Int32
    let act: @Sendable (SoakEnvironment, Int, inout SeededGenerator) throws -> Outcome
}

extension SoakLoad {
    var workers: [SoakWorker] {
        [
            .fetching("fetches"), .fetching("streams", streams: true),
            .fetching("refreshes", refresh: true),
            .asking, .listing, .pinning, .removing, .evicting, .pressing, .reloading, .deleting,
            .copying,
        ]
    }
}

extension SoakWorker {
    /// Failures of an image that another worker removed while it was requested.
    private static let removals = ["removed", "notCached"]
    /// The number of URLs in use at a time. The window moves on, so that there are always new ones.
    private static let window = 2000

    private static func number(_ turn: Int, _ random: inout SeededGenerator) -> Int {
        // The lower of two: some URLs are requested more often than others.
        let first = Int.random(in: 0..<window, using: &random)
        let second = Int.random(in: 0..<window, using: &random)
        return turn / 2 + min(first, second)
    }

    private static func client(_ environment: SoakEnvironment) throws -> Client {
        try Client(paths: [environment.daemon.socket])
    }

    static func fetching(
        _ name: String, streams: Bool = false, refresh: Bool = false
    ) -> SoakWorker {
        SoakWorker(name: name, pause: refresh ? 200 : 5) { environment, turn, random in
            var urls = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                environment.url(number(turn, &random))
            }
            let bad = random.oneIn(4) ? environment.badURL(turn) : nil
            if let bad { urls.append(bad) }
            let parameters = Methods.Fetch.Parameters(
                urls: urls, priority: random.one(of: [.background, .normal, .visible]),
                refresh: refresh)
            let client = try client(environment)
            guard streams else {
                return judge(try client.call(Methods.Fetch.self, parameters).items, bad)
            }
            var last: [Item] = []
            var replies = try client.stream(Methods.Fetch.self, parameters)
            while let reply = try replies.next() { last = reply.items }
            return judge(last, bad)
        }
    }

    private static func judge(_ items: [Item], _ bad: String?) -> Outcome {
        var outcome = Outcome()
        for item in items {
            let kind = item.failure?.kind ?? "none"
            switch item.state {
            case .cached where item.url != bad: outcome.cached += 1
            case .missing where item.url == bad && ["http", "notAnImage"].contains(kind):
                outcome.provoked += 1
            case .missing where removals.contains(kind): outcome.provoked += 1
            default: outcome.errors.append("\(item.url) is \(item.state), \(kind)")
            }
        }
        return outcome
    }

    /// A file reported as cached can be opened and has the reported size, unless it was removed since.
    static let asking = SoakWorker(name: "status questions", pause: 2) {
        environment, turn, random in
        let urls = (0..<50).map { _ in environment.url(number(turn, &random)) }
        let items = try client(environment).call(
            Methods.Status.self, .init(urls: urls, details: random.oneIn(5))
        ).items
        var outcome = Outcome()
        for item in items where item.state == .cached {
            guard let path = item.path else {
                outcome.errors.append("\(item.url) has no path")
                continue
            }
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            if Int(status.st_size) != item.size {
                outcome.errors.append("\(path) has another size")
            }
        }
        return outcome
    }

    static let listing = SoakWorker(name: "listings", pause: 300) { environment, _, random in
        let client = try client(environment)
        let order = random.one(of: [ListOrder.recency, .size, .age])
        var after: String?
        repeat {
            let page = try client.call(
                Methods.List.self,
                .init(order: order, limit: 200, after: after))
            after = page.after
        } while after != nil
        return Outcome()
    }

    /// Pins some images, and regularly removes all pins, so that something is left to evict.
    static let pinning = SoakWorker(name: "pins", pause: 50) { environment, turn, random in
        let client = try client(environment)
        if turn.isMultiple(of: 20) {
            let pinned = try client.call(Methods.List.self, .init(limit: 1000)).items
                .filter { $0.pinned == true }
            _ = try client.call(Methods.Pin.self, .init(urls: pinned.map(\.url), pinned: false))
        }
        let urls = (0..<3).map { _ in environment.url(number(turn, &random)) }
        _ = try client.call(Methods.Pin.self, .init(urls: urls, pinned: random.oneIn(2)))
        return Outcome()
    }

    static let removing = SoakWorker(name: "removals", pause: 100) { environment, turn, random in
        let number = number(turn, &random)
        let parameters =
            random.oneIn(20)
            ? Methods.Remove.Parameters(
                prefix: environment.url(number).split(separator: "?").first.map(String.init))
            : Methods.Remove.Parameters(urls: [environment.url(number)])
        _ = try client(environment).call(Methods.Remove.self, parameters)
        return Outcome()
    }

    static let evicting = SoakWorker(name: "evictions", pause: 700) { environment, _, random in
        let bytes = Int.random(in: 4_000_000...12_000_000, using: &random)
        _ = try client(environment).call(Methods.Evict.self, .init(toBytes: bytes))
        return Outcome()
    }

    /// Signals pressure through the service manager's FIFO, and by a call.
    static let pressing = SoakWorker(name: "pressures", pause: 1500) { environment, turn, random in
        if turn.isMultiple(of: 2) {
            try environment.pressure.write("x")
        } else {
            _ = try client(environment).call(
                Methods.Pressure.self, .init(level: random.oneIn(5) ? .critical : .warning))
        }
        return Outcome()
    }

    static let reloading = SoakWorker(name: "reloads", pause: 900) { environment, turn, _ in
        try environment.reload(turn)
        return Outcome()
    }

    /// Another program removes an entry.
    static let deleting = SoakWorker(name: "deletions by others", pause: 60) {
        environment, _, random in
        let names = try environment.entries()
        guard !names.isEmpty else { return Outcome() }
        unlink("\(environment.daemon.directory)/\(random.one(of: names))")
        return Outcome()
    }

    /// Another program copies an entry with its attributes, and restores an earlier copy. cp(1), rename(2).
    static let copying = SoakWorker(name: "copies by others", pause: 400) {
        environment, _, random in
        let names = try environment.entries()
        guard !names.isEmpty else { return Outcome() }
        let (entry, directory) = (random.one(of: names), environment.daemon.directory)
        try copy("\(directory)/\(entry)", to: environment.aside.file(entry))
        let kept = try environment.aside.names()
        guard let old = kept.randomElement(using: &random) else { return Outcome() }
        try copy(environment.aside.file(old), to: "\(directory)/restored")
        rename("\(directory)/restored", "\(directory)/\(old)")
        if kept.count > 20 { unlink(environment.aside.file(old)) }
        return Outcome()
    }

    /// If the source disappears during the copy, the copy is removed.
    private static func copy(_ source: String, to target: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/cp")
        process.arguments = ["-a", "--remove-destination", "--", source, target]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { unlink(target) }
    }
}

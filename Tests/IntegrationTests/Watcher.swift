import CacheKey
import CacheWire
import TestSupport
import Testing

/// A client that watches, and what it believes by what it was told.
final class Watcher {
    /// One thing it was told.
    enum Event: Equatable {
        case item(Item)
        case removed(String)
    }

    let connection: VarlinkConnection
    /// What is here or has failed, by key.
    private(set) var items: [String: Item] = [:]
    /// All it was told, in order.
    private(set) var events: [Event] = []
    /// Replies received.
    private(set) var replies = 0
    /// Items in the longest of them.
    private(set) var longestReply = 0
    /// Bytes of all of them.
    private(set) var bytes = 0
    /// The keys of each set that is watched or was asked for; `nil` for everything. The first is the one
    /// whose replies come now.
    private var watchedSets: [Set<String>?] = []

    /// Connects; watches nothing yet.
    init(_ daemon: DaemonFixture) throws {
        connection = try daemon.connect()
    }

    /// Watches these from now on, or everything.
    func watch(_ urls: [String]? = nil) async throws {
        watchedSets.append(try urls.map { Set(try $0.map(key)) })
        try await connection.send(call("Watch", urls, flags: [#""more":true"#]) + "\0")
    }

    /// Takes the next reply; `false` where it is the last of its stream.
    @discardableResult
    func take() async throws -> Bool {
        let text = try await connection.receiveText()
        let answer = try AnyReply(text)
        try #require(answer.error == nil, "\(answer.error ?? "")")
        bytes += text.utf8.count
        replies += 1
        longestReply = max(longestReply, answer.items.count)
        // What failed is told by both.
        for key in answer.removed {
            items[key] = nil
            events.append(.removed(key))
        }
        for item in answer.items {
            items[item.key] = item
            events.append(.item(item))
        }
        if answer.continues != true { beginNext() }
        return answer.continues == true
    }

    /// What it believes of what the next set names goes on; the rest is no longer watched.
    private func beginNext() {
        watchedSets.removeFirst()
        guard case let named?? = watchedSets.first else { return }
        items = items.filter { named.contains($0.key) }
    }

    /// Takes replies up to those of the set that was asked for last.
    func takeUpToLatest() async throws {
        while watchedSets.count > 1 { try await take() }
    }

    /// What it watches; `nil` for everything.
    var watchedSet: Set<String>? { watchedSets.first ?? nil }

    /// Takes replies until what it believes will do.
    func take(until isEnough: (Watcher) throws -> Bool) async throws {
        while try !isEnough(self) {
            let goesOn = try await take()
            try #require(goesOn || !watchedSets.isEmpty, "the last stream ended")
        }
    }

    func state(of url: String) throws -> Item.State? { items[try key(url)]?.state }

    /// The items told of a URL, in order.
    func items(of url: String) throws -> [Item] {
        let key = try key(url)
        return events.compactMap {
            guard case .item(let item) = $0, item.key == key else { return nil }
            return item
        }
    }

    func isRemoved(_ url: String) throws -> Bool { events.contains(.removed(try key(url))) }
}

/// The key of a URL.
func key(_ url: String) throws -> String { CacheKey(try CacheURL(url)).description }

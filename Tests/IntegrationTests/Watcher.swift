import CacheKey
import CacheWire
import TestSupport
import Testing

/// A client that watches, and its view of the cache according to the replies.
final class Watcher {
    /// One part of a reply.
    enum Event: Equatable {
        case item(Item)
        case removed(String)
    }

    let connection: VarlinkConnection
    /// Cached and failed items, by key.
    private(set) var items: [String: Item] = [:]
    /// Everything reported, in order.
    private(set) var events: [Event] = []
    /// The number of replies received.
    private(set) var replies = 0
    /// The number of items in the longest reply.
    private(set) var longestReply = 0
    /// The number of bytes received.
    private(set) var bytes = 0
    /// The keys of each set that is watched or was requested; `nil` for everything. Current replies belong
    /// to the first one.
    private var watchedSets: [Set<String>?] = []

    /// Connects, without watching anything yet.
    init(_ daemon: DaemonFixture) throws {
        connection = try daemon.connect()
    }

    /// Watches these URLs from now on, or everything.
    func watch(_ urls: [String]? = nil) async throws {
        watchedSets.append(try urls.map { Set(try $0.map(key)) })
        try await connection.send(call("Watch", urls, flags: [#""more":true"#]) + "\0")
    }

    /// Receives the next reply; `false` if it is the last of its stream.
    @discardableResult
    func take() async throws -> Bool {
        let text = try await connection.receiveText()
        let answer = try AnyReply(text)
        try #require(answer.error == nil, "\(answer.error ?? "")")
        bytes += text.utf8.count
        replies += 1
        longestReply = max(longestReply, answer.items.count)
        // A failure is reported by both lists.
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

    /// The next set begins: items that it does not contain are no longer watched.
    private func beginNext() {
        watchedSets.removeFirst()
        guard case let named?? = watchedSets.first else { return }
        items = items.filter { named.contains($0.key) }
    }

    /// Receives replies until those of the last requested set arrive.
    func takeUpToLatest() async throws {
        while watchedSets.count > 1 { try await take() }
    }

    /// The keys that are watched; `nil` for everything.
    var watchedSet: Set<String>? { watchedSets.first ?? nil }

    /// Receives replies until the view satisfies a condition.
    func take(until isEnough: (Watcher) throws -> Bool) async throws {
        while try !isEnough(self) {
            let continues = try await take()
            try #require(continues || !watchedSets.isEmpty, "the last stream ended")
        }
    }

    func state(of url: String) throws -> Item.State? { items[try key(url)]?.state }

    /// The items reported for a URL, in order.
    func items(of url: String) throws -> [Item] {
        let key = try key(url)
        return events.compactMap {
            guard case .item(let item) = $0, item.key == key else { return nil }
            return item
        }
    }

    func isRemoved(_ url: String) throws -> Bool { events.contains(.removed(try key(url))) }
}

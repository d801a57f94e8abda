import CacheKey

/// Who is told about which key.
struct Audience<Listener> {
    private var named: [CacheKey: [SubscriptionID: Listener]] = [:]
    /// Those that name so many keys that they are asked one by one in place of being noted by key.
    private var long: [SubscriptionID: (listener: Listener, subscription: Subscription)] = [:]
    private(set) var ofEverything: [SubscriptionID: Listener] = [:]
    /// What each key that is named was called.
    private var urls: [CacheKey: String] = [:]
    /// Subscriptions.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The first of some keys that changed: as many as are told in one turn of the event loop. The more there
    /// are to be asked or told about them, the fewer.
    func turn(of keys: ArraySlice<CacheKey>) -> ArraySlice<CacheKey> {
        var room = 4096
        return keys.prefix(Subscription.stretch).prefix { key in
            defer { room -= long.count + (named[key]?.count ?? 0) }
            return room > 0
        }
    }

    mutating func add(_ listener: Listener, _ subscription: Subscription) {
        count += 1
        switch subscription.subject {
        case .everything, .downloads: ofEverything[subscription.id] = listener
        case .named where subscription.isLong: long[subscription.id] = (listener, subscription)
        case .named(let urls):
            for (key, url) in urls {
                named[key, default: [:]][subscription.id] = listener
                self.urls[key] = url
            }
        }
    }

    mutating func remove(_ subscription: Subscription) {
        count -= 1
        switch subscription.subject {
        case .everything, .downloads: ofEverything[subscription.id] = nil
        case .named where subscription.isLong: long[subscription.id] = nil
        case .named(let urls):
            for key in urls.keys {
                named[key]?[subscription.id] = nil
                guard named[key]?.isEmpty == true else { continue }
                named[key] = nil
                self.urls[key] = nil
            }
        }
    }

    /// Whether anybody is told about a key.
    func watches(_ key: CacheKey) -> Bool {
        !ofEverything.isEmpty || named[key] != nil
            || long.values.contains { $0.subscription.url(of: key) != nil }
    }

    /// What somebody who named a key called it.
    func url(of key: CacheKey) -> String? {
        urls[key] ?? long.values.lazy.compactMap { $0.subscription.url(of: key) }.first
    }

    /// Those who named some of what changed, and what of it.
    func listeners(
        to changes: [Change]
    ) -> [(id: SubscriptionID, listener: Listener, changes: [Change])] {
        var heard: [SubscriptionID: (listener: Listener, changes: [Change])] = [:]
        for change in changes {
            for (id, listener) in named[change.key] ?? [:] {
                heard[id, default: (listener, [])].changes.append(change)
            }
            for (id, other) in long where other.subscription.url(of: change.key) != nil {
                heard[id, default: (other.listener, [])].changes.append(change)
            }
        }
        return heard.map { ($0.key, $0.value.listener, $0.value.changes) }
    }
}

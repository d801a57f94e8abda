import CacheKey

/// Finds the streams that a change of a key concerns.
struct SubscriptionIndex<Listener> {
    private var named: [CacheKey: [Subscription.ID: Listener]] = [:]
    /// Subscriptions that name very many keys. They are searched one by one, instead of being listed by key.
    private var long: [Subscription.ID: (listener: Listener, subscription: Subscription)] = [:]
    /// The listeners whose subscription is about all keys.
    private(set) var ofAllKeys: [Subscription.ID: Listener] = [:]
    /// The URL under which each named key was asked for.
    private var urls: [CacheKey: String] = [:]
    /// The number of subscriptions.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The first of some changed keys: as many as can be reported in one time slice of the event loop. The more
    /// listeners they have, the fewer they are.
    func batch(of keys: ArraySlice<CacheKey>) -> ArraySlice<CacheKey> {
        var remaining = 4096
        return keys.prefix(Subscription.batch).prefix { key in
            defer { remaining -= long.count + (named[key]?.count ?? 0) }
            return remaining > 0
        }
    }

    mutating func add(_ listener: Listener, _ subscription: Subscription) {
        count += 1
        switch subscription.subject {
        case .everything, .downloads: ofAllKeys[subscription.id] = listener
        case .named where subscription.isLong: long[subscription.id] = (listener, subscription)
        case .named(let urls): name(urls, listener, subscription.id)
        }
    }

    mutating func remove(_ subscription: Subscription) {
        count -= 1
        switch subscription.subject {
        case .everything, .downloads: ofAllKeys[subscription.id] = nil
        case .named where subscription.isLong: long[subscription.id] = nil
        case .named(let urls): for key in urls.keys { unname(key, subscription.id) }
        }
    }

    /// Changes the keys that a subscription names, and the subscription itself.
    mutating func adjust(
        _ listener: Listener, _ subscription: inout Subscription,
        add: [CacheKey: String], drop: [CacheKey]
    ) {
        if !subscription.isLong, add.count > Subscription.longest {
            remove(subscription)
            subscription.adjust(add: add, drop: drop)
            return self.add(listener, subscription)
        }
        if subscription.isLong {
            // The keys are held once in the meantime, so that they are not copied.
            long[subscription.id] = nil
            subscription.adjust(add: add, drop: drop)
            long[subscription.id] = (listener, subscription)
        } else {
            for key in drop where subscription.url(of: key) != nil {
                unname(key, subscription.id)
            }
            name(add, listener, subscription.id)
            subscription.adjust(add: add, drop: drop)
        }
    }

    private mutating func name(
        _ urls: [CacheKey: String], _ listener: Listener, _ id: Subscription.ID
    ) {
        for (key, url) in urls {
            named[key, default: [:]][id] = listener
            self.urls[key] = url
        }
    }

    private mutating func unname(_ key: CacheKey, _ id: Subscription.ID) {
        named[key]?[id] = nil
        guard named[key]?.isEmpty == true else { return }
        named[key] = nil
        urls[key] = nil
    }

    /// Whether a change of the key concerns any listener.
    func contains(_ key: CacheKey) -> Bool {
        !ofAllKeys.isEmpty || named[key] != nil
            || long.values.contains { $0.subscription.url(of: key) != nil }
    }

    /// The URL under which a subscription has named the key.
    func url(of key: CacheKey) -> String? {
        urls[key] ?? long.values.lazy.compactMap { $0.subscription.url(of: key) }.first
    }

    /// The listeners that have named some of the changed keys, each with its changes.
    func listeners(
        to changes: [EncodedChange]
    ) -> [(listener: Listener, changes: [EncodedChange])] {
        var found: [Subscription.ID: (listener: Listener, changes: [EncodedChange])] = [:]
        for change in changes {
            for (id, listener) in named[change.key] ?? [:] {
                found[id, default: (listener, [])].changes.append(change)
            }
            for (id, other) in long where other.subscription.url(of: change.key) != nil {
                found[id, default: (other.listener, [])].changes.append(change)
            }
        }
        return Array(found.values)
    }
}

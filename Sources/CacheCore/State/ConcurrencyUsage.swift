/// Places for downloads, and how many of them not everybody may have.
struct ConcurrencyLimit: Sendable {
    let count: Int
    /// The last ones, which prefetches never have.
    let reserve: Int

    /// All the downloads there may be.
    static func inAll(_ count: Int) -> ConcurrencyLimit {
        ConcurrencyLimit(count: count, reserve: count / 8)
    }

    /// Those from one host.
    static func atHost(_ count: Int) -> ConcurrencyLimit {
        ConcurrencyLimit(count: count, reserve: count > 1 ? 1 : 0)
    }

    /// What everybody may have.
    var ordinary: Int { count - reserve }

    /// How many of the last ones are for newcomers, too.
    var forNewcomers: Int { (reserve + 1) / 2 }

    /// How many one client leaves to others, however much is visible to it: none where that would be much
    /// of all.
    var forOthers: Int { count < 4 ? 0 : forNewcomers }

    /// The places that work of this priority may have, for some client.
    func count(for priority: Priority) -> Int {
        switch priority {
        case .background: ordinary
        case .normal: ordinary + forNewcomers
        case .visible: count
        }
    }
}

/// Downloads that have places, and which clients have how many.
///
/// The last places are for what is visible and for clients that have nothing under way: so neither
/// waits for the end of what fills all the others.
struct ConcurrencyUsage: Sendable {
    private struct Share: Sendable {
        var normal = 0
        var visible = 0
    }

    private(set) var count = 0
    /// What is more than a prefetch.
    private var shares: [ClientID: Share] = [:]

    /// Whether there is a place for work of this priority, were it for some client.
    func hasRoom(for priority: Priority, of places: ConcurrencyLimit) -> Bool {
        count < places.count(for: priority)
    }

    /// Whether this client may have one.
    func admits(_ client: ClientID, _ priority: Priority, to places: ConcurrencyLimit) -> Bool {
        guard count >= places.ordinary else { return true }
        guard hasRoom(for: priority, of: places) else { return false }
        return priority == .visible ? mayPress(client, places) : isNew(client)
    }

    /// Whether a client has nothing but prefetches.
    func isNew(_ client: ClientID) -> Bool { shares[client] == nil }

    /// Whether it may have one more for what is visible, were a prefetch to stop.
    func mayPress(_ client: ClientID, _ places: ConcurrencyLimit) -> Bool {
        (shares[client]?.visible ?? 0) < places.count - places.forOthers
    }

    mutating func add(_ client: ClientID, _ priority: Priority) {
        count += 1
        switch priority {
        case .background: break
        case .normal: shares[client, default: Share()].normal += 1
        case .visible: shares[client, default: Share()].visible += 1
        }
    }

    mutating func remove(_ client: ClientID, _ priority: Priority) {
        count -= 1
        guard priority != .background, var share = shares[client] else { return }
        if priority == .visible { share.visible -= 1 } else { share.normal -= 1 }
        shares[client] = share.normal + share.visible == 0 ? nil : share
    }
}

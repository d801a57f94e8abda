@testable import CacheCore

/// What a cache should hold of changing pages and what a fetch should bring, written down as plainly as
/// possible.
struct ReuseModel {
    struct Held: Equatable {
        var version: Int
        var control: ChangingPage.Control
        var isPinned = false
    }

    /// What a fetch comes to.
    struct Expectation {
        var isFailure = false
        /// Requests at the origin, those behind the caller's back included.
        var requests = 0...0
    }

    /// By the number of the page.
    var held: [Int: Held] = [:]
    /// Those that were pinned when their files were spoilt, which lie there yet.
    var spoiltPins: Set<Int> = []

    /// Whether a fetch has to wait for the origin.
    func mustAsk(_ page: ChangingPage, isRefresh: Bool) -> Bool {
        guard !isRefresh, let entry = held[page.number] else { return true }
        return entry.control != .fresh && entry.control != .window
    }

    mutating func fetched(_ page: ChangingPage, isRefresh: Bool) -> Expectation {
        guard mustAsk(page, isRefresh: isRefresh) else {
            guard held[page.number]?.control == .window else { return Expectation() }
            _ = asked(page)
            return Expectation(requests: Self.requests(to: page))
        }
        return Expectation(
            isFailure: asked(page, isRefresh: isRefresh), requests: Self.requests(to: page))
    }

    /// A connection that was used before and ends at once is no word of the origin's: libcurl tries another.
    static func requests(to page: ChangingPage) -> ClosedRange<Int> {
        page.health == .resetting ? 1...2 : 1...1
    }

    /// The origin is asked; whether that fails for a caller.
    mutating func asked(_ page: ChangingPage, isRefresh: Bool = false) -> Bool {
        let old = held[page.number]
        switch page.health {
        case .well:
            let wasPinned = spoiltPins.remove(page.number) != nil
            held[page.number] = Held(
                version: page.version, control: page.control, isPinned: old?.isPinned ?? wasPinned)
            return false
        case .gone:
            if old?.isPinned != true { held[page.number] = nil }
            return true
        case .confused: return true
        case .busy, .resetting, .cutting: return isRefresh || old?.control.outlivesFailure != true
        }
    }
}

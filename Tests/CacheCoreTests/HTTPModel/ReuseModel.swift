@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// A simple model of a cache: the images that it has to hold, and the results that a fetch has to have.
struct ReuseModel {
    struct Held: Equatable {
        var version: Int
        var control: ChangingPage.Control
        var isPinned = false
    }

    /// The expected result of a fetch.
    struct Expectation {
        var isFailure = false
        /// The number of requests at the origin, including those in the background.
        var requests = 0...0
    }

    /// The images in the cache, by the number of their page.
    var held: [Int: Held] = [:]
    /// The pages whose file was cut or lengthened while it was pinned.
    var damagedPins: Set<Int> = []
    /// Those of before a restart. The daemon has their pins if it ended before it saw the damage.
    var uncertainPins: Set<Int> = []

    mutating func restarted() {
        uncertainPins.formUnion(damagedPins)
        damagedPins = []
    }

    /// The cache says whether an entry is pinned that nothing else tells of.
    mutating func saw(_ isPinned: Bool, of number: Int) {
        guard held[number] != nil, uncertainPins.remove(number) != nil else { return }
        held[number]?.isPinned = isPinned
    }

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

    /// If a connection that was used before is closed at once, libcurl repeats the request on another one. A short page in
    /// place of the rest of a partial could be a part, so the image is asked for again without a range; and so could a
    /// whole response without a length.
    static func requests(to page: ChangingPage) -> ClosedRange<Int> {
        [.resetting, .confused].contains(page.health) || page.isChunked ? 1...2 : 1...1
    }

    /// Asks the origin. Returns whether the fetch fails for a caller.
    mutating func asked(_ page: ChangingPage, isRefresh: Bool = false) -> Bool {
        let old = held[page.number]
        switch page.health {
        case .well:
            let wasPinned = damagedPins.remove(page.number) != nil
            held[page.number] = Held(
                version: page.version, control: page.control, isPinned: old?.isPinned ?? wasPinned)
            return false
        case .gone:
            if old?.isPinned != true { held[page.number] = nil }
            return true
        // A page in the place of an image counts as an origin that gave no answer.
        case .confused, .busy, .resetting, .cutting:
            return isRefresh || old?.control.allowsStaleIfError != true
        }
    }
}

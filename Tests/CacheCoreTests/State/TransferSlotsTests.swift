import CacheKey
import Testing

@testable import CacheCore

/// One server bears only so many downloads at once, and holds up no other.
@Suite("State: hosts", .timeLimit(.minutes(5)))
struct TransferSlotsTests {
    private func url(_ text: String) throws -> CacheURL { try CacheURL(text) }

    /// The state after wishes for `urls`, and the URLs that were started.
    private func started(
        _ state: inout CacheState, _ urls: [String], _ priority: Priority = .normal,
        client: UInt64 = 0
    ) throws -> [String] {
        try urls.flatMap { text in
            let url = try url(text)
            let effects = state.wanted(
                CacheKey(url), url, by: nil,
                FetchOptions(priority: priority, client: ClientID(rawValue: client)),
                now: FileTime(nanoseconds: 1_790_000_000))
            state.checkInvariants()
            return starts(effects)
        }
    }

    private func starts(_ effects: [Effect]) -> [String] {
        effects.compactMap { effect in
            guard case .startTransfer(_, _, let url, _) = effect else { return nil }
            return url.string
        }
    }

    private func fails(_ state: inout CacheState, _ text: String) throws -> [String] {
        let key = CacheKey(try url(text))
        let id = try #require(state.flights[key]).id
        let effects = state.transferFinished(key, id, .failure(.http(500)))
        state.checkInvariants()
        return starts(effects)
    }

    @Test func whoWaitsForAFullHostHoldsUpNoOther() throws {
        var state = CacheState(transferLimit: 8, hostLimit: 3)
        let urls = ["http://a/1", "http://a/2", "http://a/3", "http://a/4", "http://b/1"]
        #expect(try started(&state, urls) == ["http://a/1", "http://a/2", "http://b/1"])
        #expect(try fails(&state, "http://b/1") == [])
        #expect(try fails(&state, "http://a/2") == ["http://a/3"])
        #expect(try fails(&state, "http://a/1") == ["http://a/4"])
        #expect(try started(&state, ["http://a/5"]) == [])
        #expect(try fails(&state, "http://a/3") == ["http://a/5"])
    }

    @Test func theMoreUrgentOfThoseWhoWaitGoesFirst() throws {
        var state = CacheState(transferLimit: 8, hostLimit: 1)
        #expect(try started(&state, ["http://a/1", "http://a/2"]) == ["http://a/1"])
        #expect(try started(&state, ["http://a/3"], .visible) == [])
        // A wish for what waits already raises it.
        #expect(try started(&state, ["http://a/4"]) == [])
        #expect(try started(&state, ["http://a/4"], .visible) == [])
        let order = try ["http://a/1", "http://a/3", "http://a/4"].flatMap { try fails(&state, $0) }
        #expect(order == ["http://a/3", "http://a/4", "http://a/2"])
    }

    @Test func theLastPlaceAtAHostIsForWhatIsVisible() throws {
        var state = CacheState(transferLimit: 64, hostLimit: 6)
        let wanted = (0..<20).map { "http://a/\($0)" }
        #expect(try started(&state, wanted) == Array(wanted[..<5]))
        #expect(try started(&state, ["http://a/x", "http://a/y"], .visible) == ["http://a/x"])
        // Its end makes room for what is visible only.
        #expect(try fails(&state, "http://a/0") == ["http://a/y"])
        #expect(try fails(&state, "http://a/x") == [])
        #expect(try fails(&state, "http://a/y") == ["http://a/5"])
    }

    @Test func theLastPlaceAtAHostIsForAClientThatHasNoneThere() throws {
        var state = CacheState(transferLimit: 64, hostLimit: 6)
        let wanted = (0..<20).map { "http://a/\($0)" }
        #expect(try started(&state, wanted, client: 1) == Array(wanted[..<5]))
        #expect(try started(&state, ["http://a/p"], .background, client: 2) == [])
        #expect(
            try started(&state, ["http://a/x", "http://a/y"], client: 2) == ["http://a/x"])
        #expect(try started(&state, ["http://a/z"], client: 3) == [])
        // The next that ends makes room for who has none, and not for the others, whose turn it is.
        #expect(try fails(&state, "http://a/0") == ["http://a/z"])
        #expect(try fails(&state, "http://a/x") == ["http://a/y"])
        #expect(try fails(&state, "http://a/1") == [])
        #expect(try fails(&state, "http://a/z") == ["http://a/5"])
    }

    @Test func ofManyPlacesAtAHostNoClientHasTheLastForWhatIsVisibleToItAlone() throws {
        var state = CacheState(transferLimit: 64, hostLimit: 6)
        let wanted = (0..<20).map { "http://a/\($0)" }
        #expect(try started(&state, wanted, .visible, client: 1) == Array(wanted[..<5]))
        #expect(try started(&state, ["http://a/x"], .visible, client: 2) == ["http://a/x"])
        #expect(try fails(&state, "http://a/x") == [])
        #expect(try fails(&state, "http://a/0") == ["http://a/5"])
        // Be it less urgent.
        #expect(try started(&state, ["http://a/y"], client: 3) == ["http://a/y"])
        // Of few it may have all.
        state = CacheState(transferLimit: 64, hostLimit: 3)
        #expect(try started(&state, wanted, .visible, client: 1) == Array(wanted[..<3]))
    }

    /// The place is for whoever may have it, and not only for who waited for it first.
    @Test func aPlaceAtAHostGoesToAClientThatMayBegin() throws {
        var state = CacheState(transferLimit: 16, hostLimit: 3)
        let here = ["http://a/1", "http://a/2"]
        #expect(try started(&state, here, client: 1) == here)
        #expect(try started(&state, ["http://a/3"], client: 2) == ["http://a/3"])
        // Waits here, and has all it may have elsewhere.
        #expect(try started(&state, ["http://a/4"], client: 3) == [])
        let elsewhere = (0..<12).map { "http://many\($0)/" }
        #expect(try started(&state, elsewhere, client: 3) == Array(elsewhere[..<11]))
        #expect(try started(&state, ["http://one/"], client: 4) == ["http://one/"])
        #expect(try started(&state, ["http://a/5"], client: 5) == [])
        #expect(try fails(&state, "http://a/1") == ["http://a/5"])
        #expect(try fails(&state, "http://one/") == [])
        #expect(try fails(&state, "http://a/5") == ["http://many11/"])
        #expect(try fails(&state, "http://many0/") == ["http://a/4"])
    }

    @Test func ofAllPlacesTheLastAreForClientsThatHaveNone() throws {
        var state = CacheState(transferLimit: 64, hostLimit: 6)
        let many = (0..<100).map { "http://many\($0)/" }
        #expect(try started(&state, many, client: 1).count == 56)
        for client in 2...5 {
            let urls = ["http://one\(client)/", "http://two\(client)/"]
            #expect(try started(&state, urls, client: UInt64(client)) == [urls[0]])
        }
        #expect(try started(&state, ["http://six/"], client: 6) == [])
        // What is visible has its own.
        let visible = (0..<10).map { "http://visible\($0)/" }
        #expect(try started(&state, visible, .visible, client: 1).count == 4)
    }

    @Test func aFullHostDoesNotLetItsBacklogPassTheMoreUrgentOfOthers() throws {
        var state = CacheState(transferLimit: 2, hostLimit: 2)
        #expect(try started(&state, ["http://a/1", "http://a/2"]) == ["http://a/1"])
        #expect(try started(&state, ["http://b/1"]) == ["http://b/1"])
        #expect(try started(&state, ["http://c/1"], .visible) == [])
        #expect(try fails(&state, "http://a/1") == ["http://c/1"])
        #expect(try fails(&state, "http://b/1") == ["http://a/2"])
    }

    @Test func clientsTakeTurnsAtAFullHost() throws {
        var state = CacheState(transferLimit: 8, hostLimit: 1)
        for (number, client) in [1, 1, 1, 1, 2, 2, 3].enumerated() {
            _ = try started(&state, ["http://a/\(number)"], client: UInt64(client))
        }
        var order: [String] = []
        var running = ["http://a/0"]
        while let url = running.popLast() {
            running = try fails(&state, url)
            order += running.map { String($0.dropFirst("http://a/".count)) }
        }
        #expect(order == ["1", "4", "6", "2", "5", "3"])
    }

    @Test func aHostThatAnswersByHTTP2BearsAsManyAsThereAreStreams() throws {
        var state = CacheState(transferLimit: 200, hostLimit: 6)
        let urls = (0..<150).map { "https://a/\($0)" }
        #expect(try started(&state, urls).count == 5)
        let id = try #require(state.flights[CacheKey(try url("https://a/0"))]).id
        let more = starts(state.transferAnswered(id, isMultiplexed: true))
        state.checkInvariants()
        #expect(more.count == TransferSlots.streamLimit - 6)
        // It is known from now on; and forgotten when the host speaks HTTP/1.1 again.
        #expect(starts(state.transferAnswered(id, isMultiplexed: true)) == [])
        #expect(try fails(&state, "https://a/0").count == 1)
        let other = try #require(state.flights[CacheKey(try url("https://a/1"))]).id
        #expect(starts(state.transferAnswered(other, isMultiplexed: false)) == [])
        #expect(try fails(&state, "https://a/1") == [])
    }

    @Test func everybodyIsServedInTheEnd() throws {
        var state = CacheState(transferLimit: 3, hostLimit: 2)
        var running: [String] = []
        let urls = (0..<60).map { "http://host\($0 % 4)/\($0)" }
        running += try started(&state, urls)
        var served: Set<String> = []
        while let url = running.popLast() {
            served.insert(url)
            running += try fails(&state, url)
        }
        #expect(served == Set(urls))
        #expect(state.running == 0 && state.flights.isEmpty)
    }

    @Test(arguments: [
        ("http://a/b?c", "http://a"), ("https://a:81?x=/", "https://a:81"),
        ("HTTP://[::1]", "HTTP://[::1]"),
    ])
    func theOriginIsSchemeHostAndPort(text: String, origin: String) throws {
        #expect(try url(text).origin == origin)
    }
}

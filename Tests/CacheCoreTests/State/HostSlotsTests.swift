import CacheKey
import Testing

@testable import CacheCore

/// One server bears only so many downloads at once, and holds up no other.
@Suite("State: hosts", .timeLimit(.minutes(1)))
struct HostSlotsTests {
    private func url(_ text: String) throws -> CacheURL { try CacheURL(text) }

    /// The state after wishes for `urls`, and the URLs that were started.
    private func started(
        _ state: inout CacheState, _ urls: [String], _ priority: Priority = .normal
    ) throws -> [String] {
        try urls.flatMap { text in
            let url = try url(text)
            let effects = state.wanted(
                CacheKey(url), url, by: nil, FetchOptions(priority: priority),
                now: FileTime(nanoseconds: 1_790_000_000))
            state.checkInvariants()
            return starts(effects)
        }
    }

    private func starts(_ effects: [Effect]) -> [String] {
        effects.compactMap { effect in
            guard case .startTransfer(_, _, let url) = effect else { return nil }
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
        var state = CacheState(transferLimit: 8, hostLimit: 2)
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

import CacheKey
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Each host has a limit of concurrent downloads, and a full host blocks no other host.
@Suite("State: hosts", .timeLimit(.minutes(5)))
struct TransferSlotsTests {
    private func url(_ text: String) throws -> CacheURL { try CacheURL(text) }

    /// Requests `urls`, and returns the URLs whose downloads started.
    private func started(
        _ state: inout CacheState, _ urls: [String], _ priority: Priority = .normal,
        client: UInt64 = 0
    ) throws -> [String] {
        try urls.flatMap { text in
            let url = try url(text)
            let (_, work) = state.run {
                $0.fetching.requested(
                    CacheKey(url), url, by: nil,
                    FetchOptions(priority: priority, client: ClientID(rawValue: client)),
                    now: FileTime(nanoseconds: 1_790_000_000), &$1)
            }
            return starts(work)
        }
    }

    private func starts(_ work: [Work]) -> [String] {
        work.compactMap { work in
            guard case .startTransfer(_, _, let url, _) = work else { return nil }
            return url.string
        }
    }

    private func fails(_ state: inout CacheState, _ text: String) throws -> [String] {
        let key = CacheKey(try url(text))
        let id = try #require(state.fetching.downloads[key]).id
        return starts(state.run { $0.transferFailed(key, id, .http(500), &$1) }.work)
    }

    @Test func aDownloadWaitingForAFullHostBlocksNoOther() throws {
        var state = CacheState(FetchingState(transferLimit: 8, originLimit: 2))
        let urls = ["http://a/1", "http://a/2", "http://a/3", "http://a/4", "http://b/1"]
        #expect(try started(&state, urls) == ["http://a/1", "http://a/2", "http://b/1"])
        #expect(try fails(&state, "http://b/1") == [])
        #expect(try fails(&state, "http://a/2") == ["http://a/3"])
        #expect(try fails(&state, "http://a/1") == ["http://a/4"])
        #expect(try started(&state, ["http://a/5"]) == [])
        #expect(try fails(&state, "http://a/3") == ["http://a/5"])
    }

    @Test func startsTheMostUrgentWaitingDownloadFirst() throws {
        var state = CacheState(FetchingState(transferLimit: 8, originLimit: 1))
        #expect(try started(&state, ["http://a/1", "http://a/2"]) == ["http://a/1"])
        #expect(try started(&state, ["http://a/3"], .visible) == [])
        // A request for a queued download raises its priority.
        #expect(try started(&state, ["http://a/4"]) == [])
        #expect(try started(&state, ["http://a/4"], .visible) == [])
        let order = try ["http://a/1", "http://a/3", "http://a/4"].flatMap { try fails(&state, $0) }
        #expect(order == ["http://a/3", "http://a/4", "http://a/2"])
    }

    @Test func oneClientGetsAllSlotsOfAnOrigin() throws {
        var state = CacheState(FetchingState(transferLimit: 64, originLimit: 6))
        let wanted = (0..<20).map { "http://a/\($0)" }
        #expect(try started(&state, wanted, client: 1) == Array(wanted[..<6]))
    }

    /// Names of one server are several origins, as in browsers.
    @Test func originsAtOneAddressHaveLimitsOfTheirOwn() throws {
        var state = CacheState(FetchingState(transferLimit: 64, originLimit: 1))
        let urls = (0..<24).map { "http://name\($0).example/" }
        #expect(try started(&state, urls) == urls)
    }

    /// The slot goes to a client that has none there, not to the first one that waited.
    @Test func aSlotOfAnOriginGoesToAClientWithoutDownloadsThere() throws {
        var state = CacheState(FetchingState(transferLimit: 16, originLimit: 2))
        let here = ["http://a/1", "http://a/2"]
        #expect(try started(&state, here, client: 1) == here)
        #expect(try started(&state, ["http://a/3"], client: 1) == [])
        // This client waits here, and has downloads elsewhere.
        #expect(try started(&state, ["http://b/1"], client: 2) == ["http://b/1"])
        #expect(try started(&state, ["http://a/4"], client: 2) == [])
        #expect(try fails(&state, "http://a/1") == ["http://a/4"])
        #expect(try fails(&state, "http://a/4") == ["http://a/3"])
    }

    @Test func theBacklogOfAFullHostDoesNotOvertakeUrgentDownloads() throws {
        var state = CacheState(FetchingState(transferLimit: 2, originLimit: 1))
        #expect(try started(&state, ["http://a/1", "http://a/2"]) == ["http://a/1"])
        #expect(try started(&state, ["http://b/1"]) == ["http://b/1"])
        #expect(try started(&state, ["http://c/1"], .visible) == [])
        #expect(try fails(&state, "http://a/1") == ["http://c/1"])
        #expect(try fails(&state, "http://b/1") == ["http://a/2"])
    }

    @Test func clientsTakeTurnsAtAFullHost() throws {
        var state = CacheState(FetchingState(transferLimit: 8, originLimit: 1))
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

    @Test func anHTTP2HostTakesAsManyDownloadsAsItHasStreams() throws {
        var state = CacheState(FetchingState(transferLimit: 200, originLimit: 6))
        let urls = (0..<150).map { "https://a/\($0)" }
        #expect(try started(&state, urls).count == 6)
        let id = try #require(state.fetching.downloads[CacheKey(try url("https://a/0"))]).id
        let more = starts(
            state.run { $0.fetching.transferAnswered(id, isMultiplexed: true, &$1) }.work)
        state.fetching.checkInvariants()
        #expect(more.count == TransferSlots.streamLimit - 6)
        // The state remembers HTTP/2 for the host, and forgets it when the host answers with
        // HTTP/1.1 again.
        #expect(
            starts(state.run { $0.fetching.transferAnswered(id, isMultiplexed: true, &$1) }.work)
                == [])
        #expect(try fails(&state, "https://a/0").count == 1)
        let other = try #require(state.fetching.downloads[CacheKey(try url("https://a/1"))]).id
        #expect(
            starts(
                state.run { $0.fetching.transferAnswered(other, isMultiplexed: false, &$1) }.work)
                == [])
        #expect(try fails(&state, "https://a/1") == [])
    }

    /// Some servers permit only a few streams on a connection.
    @Test func anHTTP2HostHasNoMoreDownloadsThanItsConnectionsCarry() throws {
        var state = CacheState(FetchingState(transferLimit: 200, originLimit: 6))
        let urls = (0..<150).map { "https://a/\($0)" }
        #expect(try started(&state, urls).count == 6)
        func id(_ number: Int) throws -> FlightID {
            try #require(state.fetching.downloads[CacheKey(try url(urls[number]))]).id
        }
        let first = try id(0)
        _ = state.run { $0.fetching.transferAnswered(first, isMultiplexed: true, &$1) }
        for number in (12..<100).reversed() {
            let (key, id) = (CacheKey(try url(urls[number])), try id(number))
            #expect(starts(state.run { $0.fetching.transferCrowded(key, id, &$1) }.work) == [])
            state.fetching.checkInvariants()
        }
        #expect(state.fetching.scheduler.running == 12)
        // They come next, and have lost no attempt.
        #expect(state.fetching.downloads[CacheKey(try url(urls[12]))]?.attempts == 0)
        #expect(try fails(&state, urls[3]) == [urls[12]])
    }

    @Test func everyRequestIsServedInTheEnd() throws {
        var state = CacheState(FetchingState(transferLimit: 3, originLimit: 2))
        var running: [String] = []
        let urls = (0..<60).map { "http://host\($0 % 4)/\($0)" }
        running += try started(&state, urls)
        var served: Set<String> = []
        while let url = running.popLast() {
            served.insert(url)
            running += try fails(&state, url)
        }
        #expect(served == Set(urls))
        #expect(state.fetching.scheduler.running == 0 && state.fetching.downloads.isEmpty)
    }

    @Test(arguments: [
        ("http://a/b?c", "http://a"), ("https://a:81?x=/", "https://a:81"),
        ("HTTP://[::1]", "HTTP://[::1]"),
    ])
    func anOriginIsSchemeHostAndPort(text: String, origin: String) throws {
        #expect(try url(text).origin == origin)
    }
}

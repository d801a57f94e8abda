import CacheKey
import Testing

@testable import CacheCore
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
                $0.requested(
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
        let id = try #require(state.downloads[key]).id
        return starts(state.run { $0.transferFailed(key, id, .http(500), &$1) }.work)
    }

    @Test func aDownloadWaitingForAFullHostBlocksNoOther() throws {
        var state = CacheState(transferLimit: 8, hostLimit: 3)
        let urls = ["http://a/1", "http://a/2", "http://a/3", "http://a/4", "http://b/1"]
        #expect(try started(&state, urls) == ["http://a/1", "http://a/2", "http://b/1"])
        #expect(try fails(&state, "http://b/1") == [])
        #expect(try fails(&state, "http://a/2") == ["http://a/3"])
        #expect(try fails(&state, "http://a/1") == ["http://a/4"])
        #expect(try started(&state, ["http://a/5"]) == [])
        #expect(try fails(&state, "http://a/3") == ["http://a/5"])
    }

    @Test func startsTheMostUrgentWaitingDownloadFirst() throws {
        var state = CacheState(transferLimit: 8, hostLimit: 1)
        #expect(try started(&state, ["http://a/1", "http://a/2"]) == ["http://a/1"])
        #expect(try started(&state, ["http://a/3"], .visible) == [])
        // A request for a queued download raises its priority.
        #expect(try started(&state, ["http://a/4"]) == [])
        #expect(try started(&state, ["http://a/4"], .visible) == [])
        let order = try ["http://a/1", "http://a/3", "http://a/4"].flatMap { try fails(&state, $0) }
        #expect(order == ["http://a/3", "http://a/4", "http://a/2"])
    }

    @Test func reservesAHostSlotForAClientWithoutDownloadsThere() throws {
        var state = CacheState(transferLimit: 64, hostLimit: 6)
        let wanted = (0..<20).map { "http://a/\($0)" }
        #expect(try started(&state, wanted, client: 1) == Array(wanted[..<5]))
        #expect(try started(&state, ["http://a/v"], .visible, client: 1) == [])
        #expect(try started(&state, ["http://a/p"], .background, client: 2) == [])
        #expect(
            try started(&state, ["http://a/x", "http://a/y"], client: 2) == ["http://a/x"])
        #expect(try started(&state, ["http://a/z"], client: 3) == [])
        // The next slot that becomes free goes to a client without downloads at this host, although
        // it is the turn of others.
        #expect(try fails(&state, "http://a/0") == ["http://a/z"])
        #expect(try fails(&state, "http://a/x") == ["http://a/y"])
        // A shared slot goes to the most urgent download.
        #expect(try fails(&state, "http://a/z") == [])
        #expect(try fails(&state, "http://a/y") == ["http://a/v"])
    }

    /// The slot goes to any client that is allowed to use it, not only to the first one that
    /// waited.
    @Test func aHostSlotGoesToAClientThatMayStart() throws {
        var state = CacheState(transferLimit: 16, hostLimit: 3)
        let here = ["http://a/1", "http://a/2"]
        #expect(try started(&state, here, client: 1) == here)
        #expect(try started(&state, ["http://a/3"], client: 2) == ["http://a/3"])
        // This client waits here, and uses all its slots elsewhere.
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

    @Test func reservesOneSlotInEightForClientsWithoutDownloads() throws {
        var state = CacheState(transferLimit: 64, hostLimit: 6)
        let many = (0..<100).map { "http://many\($0)/" }
        #expect(try started(&state, many, client: 1).count == 56)
        for client in 2...9 {
            let urls = ["http://one\(client)/", "http://two\(client)/"]
            #expect(try started(&state, urls, client: UInt64(client)) == [urls[0]])
        }
        #expect(try started(&state, ["http://ten/"], client: 10) == [])
        #expect(try started(&state, ["http://visible/"], .visible, client: 1) == [])
    }

    @Test func theBacklogOfAFullHostDoesNotOvertakeUrgentDownloads() throws {
        var state = CacheState(transferLimit: 3, hostLimit: 2)
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

    @Test func anHTTP2HostTakesAsManyDownloadsAsItHasStreams() throws {
        var state = CacheState(transferLimit: 200, hostLimit: 6)
        let urls = (0..<150).map { "https://a/\($0)" }
        #expect(try started(&state, urls).count == 5)
        let id = try #require(state.downloads[CacheKey(try url("https://a/0"))]).id
        let more = starts(state.run { $0.transferAnswered(id, isMultiplexed: true, &$1) }.work)
        state.checkInvariants()
        #expect(more.count == TransferSlots.streamLimit - TransferSlots.streamLimit / 8 - 5)
        // The state remembers HTTP/2 for the host, and forgets it when the host answers with
        // HTTP/1.1 again.
        #expect(starts(state.run { $0.transferAnswered(id, isMultiplexed: true, &$1) }.work) == [])
        #expect(try fails(&state, "https://a/0").count == 1)
        let other = try #require(state.downloads[CacheKey(try url("https://a/1"))]).id
        #expect(
            starts(state.run { $0.transferAnswered(other, isMultiplexed: false, &$1) }.work) == [])
        #expect(try fails(&state, "https://a/1") == [])
    }

    @Test func everyRequestIsServedInTheEnd() throws {
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
        #expect(state.scheduler.running == 0 && state.downloads.isEmpty)
    }

    @Test(arguments: [
        ("http://a/b?c", "http://a"), ("https://a:81?x=/", "https://a:81"),
        ("HTTP://[::1]", "HTTP://[::1]"),
    ])
    func anOriginIsSchemeHostAndPort(text: String, origin: String) throws {
        #expect(try url(text).origin == origin)
    }
}

import CacheKey
import CacheValues
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("Cache: fetching", .timeLimit(.minutes(5)))
struct CacheFetchTests {
    let image = SampleImage.png(width: 30, height: 20, byteCount: 200_000)

    @Test func fetchingPublishesAWholeFile() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(headers: ["ETag": "\"1\""], body: image))
            #expect(try fixture.lookup("/a.png") == .missing(nil))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try fixture.lookup("/a.png").isCached)
            #expect(try contents(of: fixture.file("/a.png")) == image)
            let details = fixture.cache.details(of: try fixture.imageRequest("/a.png").key)
            #expect(details.url == fixture.origin.url("/a.png"))
            var digest = SHA256()
            image.withUnsafeBytes { digest.update($0) }
            #expect(details.sha256 == digest.finish())
            #expect(access(try fixture.file("/a.png") + ".part", F_OK) != 0)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests("/a.png").count == 1)
        }
    }

    @Test func aThousandCallersCauseOneRequest() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let gate = try Gate()
            fixture.origin.route("/a.png", .gated(image, after: 1000, gate))
            let imageRequest = try fixture.imageRequest("/a.png")
            let waiters = (0..<1000).map { _ in fixture.cache.fetch([imageRequest], FetchOptions())
            }
            try await gate.reached()
            #expect(!fixture.cache.isAtRest)
            gate.open()
            for waiter in waiters {
                #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            }
            #expect(fixture.cache.isAtRest)
            #expect(fixture.origin.requests().count == 1)
            let statistics = fixture.cache.statistics()
            #expect(statistics.joined == 999)
            #expect(statistics.published == 1)
            #expect(statistics.entries == 1)
        }
    }

    @Test func reportsProgressDuringADownload() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let gate = try Gate()
            fixture.origin.route("/a.png", .gated(image, after: 150_000, gate))
            let waiter = fixture.cache.fetch([try fixture.imageRequest("/a.png")], FetchOptions())
            try await fixture.lookup("/a.png") { $0.progress?.received == 150_000 }
            let progress = try fixture.lookup("/a.png").progress
            #expect(progress?.phase == .receiving)
            #expect(progress?.total == 200_000)
            #expect(progress?.percent == 75)
            // The partial has the bytes that were counted.
            let partial = try contents(of: fixture.file("/a.png") + ".part")
            #expect(partial == Array(image[..<150_000]))
            gate.open()
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
        }
    }

    @Test func refusesAPrefetchBeyondTheDetachedQuota() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.detachedLimit = 2 }
            let imageRequests = try ["/a.png", "/b.png", "/c.png"].map {
                try fixture.imageRequest($0)
            }
            #expect(!fixture.cache.fetchDetached(imageRequests, FetchOptions()))
            let missing = [Lookup](repeating: .missing(nil), count: 3)
            #expect(fixture.cache.lookup(imageRequests.map(\.key)) == missing)
            for path in ["/a.png", "/b.png"] { fixture.origin.route(path, .answer(body: image)) }
            #expect(fixture.cache.fetchDetached(Array(imageRequests[..<2]), FetchOptions()))
            for path in ["/a.png", "/b.png"] { try await fixture.lookup(path) { $0.isCached } }
            #expect(fixture.origin.requests().count == 2)
        }
    }

    @Test func aPrefetchContinuesWithoutItsCaller() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            #expect(
                fixture.cache.fetchDetached([try fixture.imageRequest("/a.png")], FetchOptions()))
            try await fixture.lookup("/a.png") { $0.isCached }
            #expect(try contents(of: fixture.file("/a.png")) == image)
        }
    }

    @Test func downloadsAgainAfterAFileIsRemovedExternally() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let gate = try Gate()
            fixture.origin.route("/a.png", .gated(image, after: 150_000, gate))
            async let fetched = fixture.fetch("/a.png")
            try await fixture.lookup("/a.png") { ($0.progress?.received ?? 0) >= 150_000 }
            #expect(unlink(try fixture.file("/a.png") + ".part") == 0)
            gate.open()
            #expect(try await fetched.failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == image)
            #expect(fixture.origin.requests().count == 2)
        }
    }

    @Test func stopsTheTransferAndKeepsThePartialWhenTheLastCallerLeaves() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let gate = try Gate()
            fixture.origin.route("/a.png", .gated(image, after: 1000, gate))
            let imageRequest = try fixture.imageRequest("/a.png")
            let first = fixture.cache.fetch([imageRequest], FetchOptions())
            let second = fixture.cache.fetch([imageRequest], FetchOptions())
            try await fixture.lookup("/a.png") { $0.progress?.received == 1000 }
            fixture.cache.leave(first)
            #expect(try fixture.lookup("/a.png").progress?.received == 1000)
            fixture.cache.leave(second)
            #expect(try fixture.lookup("/a.png") == .missing(nil))
            try await fixture.origin.waitForOutcome(.abandoned, of: "/a.png")
            #expect(try contents(of: fixture.file("/a.png") + ".part").count == 1000)
            // A later request starts a new download.
            gate.open()
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == image)
        }
    }

    @Test func aRefreshKeepsTheImageCachedUntilItReplacesTheFile() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            _ = try await fixture.fetch("/a.png")
            let newer = SampleImage.png(byteCount: 5000, seed: 1)
            let gate = try Gate()
            fixture.origin.route("/a.png", .gated(newer, after: 1000, gate))
            let options = FetchOptions(isRefresh: true)
            let waiter = fixture.cache.fetch([try fixture.imageRequest("/a.png")], options)
            try await gate.reached()
            #expect(try fixture.lookup("/a.png").isCached)
            #expect(try contents(of: fixture.file("/a.png")) == image)
            gate.open()
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == newer)
            guard case .cached(let facts, _, _) = try fixture.lookup("/a.png") else {
                Issue.record("the image is not cached")
                return
            }
            #expect(facts.size == 5000)
        }
    }

    @Test(arguments: [
        (OriginScript.answer(404), Failure.Kind.http), (.answer(500), .http),
        (.cut(SampleImage.png(byteCount: 9000), after: 500), .truncated),
        (.redirect(to: "ftp://127.0.0.1/a.png"), .redirect), (.redirect(to: "/a.png"), .redirect),
        (.answer(headers: ["Content-Encoding": "gzip"], body: [1, 2, 3]), .notAnImage),
        (.answer(body: SampleImage.png(byteCount: 300_000)), .tooLarge),
        (.chunked(SampleImage.png(byteCount: 300_000)), .tooLarge),
        (.redirect(to: "http://10.255.255.1/a.png"), .addressRefused),
        (.answer(), .notAnImage),
    ])
    func aFailedDownloadReportsTheReasonAndLeavesNoFile(script: OriginScript, kind: Failure.Kind)
        async throws
    {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.limits.maximumImageSize = 250_000 }
            fixture.origin.route("/a.png", script)
            let key = try fixture.imageRequest("/a.png").key
            #expect(try await fixture.fetch("/a.png").failures[key]?.kind == kind)
            #expect(try fixture.lookup("/a.png").failure?.kind == kind)
            #expect(access(try fixture.file("/a.png"), F_OK) != 0)
            let keepsPartial = kind == .truncated
            #expect((access(try fixture.file("/a.png") + ".part", F_OK) == 0) == keepsPartial)
        }
    }

    @Test func aClosedPortIsUnreachable() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let imageRequest = try fixture.imageRequest("/a.png")
            try await fixture.origin.stop()
            let waiter = fixture.cache.fetch([imageRequest], FetchOptions())
            let failure = try await fixture.outcome(of: waiter).failures[imageRequest.key]
            #expect(failure?.kind == .unreachable)
        }
    }

    @Test func refusesAForbiddenAddressBeforeConnecting() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) {
                $0.transfers.addressPolicy = AddressPolicy()
            }
            fixture.origin.route("/a.png", .answer(body: image))
            let failure = try await fixture.fetch("/a.png").failures.values.first
            #expect(failure?.kind == .addressRefused)
            #expect(failure?.message.contains("127.0.0.1") == true)
            #expect(fixture.origin.connectionsAccepted == 0)
        }
    }

    /// libcurl resolves `localhost` to ::1 and 127.0.0.1. Only the latter is allowed.
    @Test func oneAllowedAddressOfAHostSuffices() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            let imageRequest = ImageRequest(
                try CacheURL(fixture.origin.url("/a.png", host: "localhost")))
            let waiter = fixture.cache.fetch([imageRequest], FetchOptions())
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
        }
    }

    @Test func requestsAreIdenticalForAllCallers() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.transfers.userAgent = "cached/test" }
            fixture.origin.route("/b%C3%BC.png", .answer(body: image))
            #expect(try await fixture.fetch("/bü.png").failures.isEmpty)
            let request = try #require(fixture.origin.requests().first)
            #expect(request.target == "/b%C3%BC.png")
            #expect(request.headers.names == ["host", "user-agent", "accept-encoding", "accept"])
            #expect(request.headers["accept"] == "*/*")
            #expect(request.headers["accept-encoding"] == "identity")
            #expect(request.headers["user-agent"] == "cached/test")
        }
    }

    @Test(arguments: ["max-age=9223372036854775807", "max-age=99999999999999999999"])
    func acceptsALifetimeBeyondTheRepresentableTime(directive: String) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let headers: HeaderFields = ["Cache-Control": directive]
            fixture.origin.route("/a.png", .answer(headers: headers, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
        }
    }

    /// A large image is published from its partial. A small image never has one.
    @Test(arguments: [SyscallName.fsync, .rename, .linkat, .fsetxattr])
    func anImageThatCannotBeStoredIsMissingAndCanBeFetchedAgain(call: SyscallName) async throws {
        try await withTestScope { scope in
            // Opening the directory tries one attribute and one name, and syncs it.
            // A partial has an attribute of its own, which is not essential.
            let nth = [SyscallName.rename: 1, .fsetxattr: 3][call] ?? 2
            let plan = FaultPlan(call, nth: nth, .ioError)
            let directory = try TemporaryDirectory(inMemory: scope).file("cache")
            let fixture = try CacheFixture(in: scope, directory: directory, faults: plan)
            fixture.cache.waitForScan()
            let body = call == .linkat ? SampleImage.png(byteCount: 2000) : image
            fixture.origin.route("/a.png", .answer(body: body))
            #expect(try await fixture.fetch("/a.png").failures.values.first?.kind == .storage)
            #expect(try fixture.lookup("/a.png").failure?.kind == .storage)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try fixture.lookup("/a.png").isCached)
        }
    }
}

import CLinux
import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Entries that are no longer fresh: revalidated, confirmed, replaced, served stale or removed.
@Suite("Cache: reuse", .timeLimit(.minutes(5)))
struct CacheReuseTests {
    let image = SampleImage.png(width: 30, height: 20, byteCount: 20_000)
    let newer = SampleImage.png(byteCount: 5000, seed: 1)
    /// Fields of an image that is stale as soon as it is cached.
    let stale: HeaderFields = ["Cache-Control": "max-age=0", "ETag": "\"1\""]

    /// A cache that has the image, which the origin sent with these fields.
    private func fixture(
        _ headers: HeaderFields, in scope: TestScope, directory: String? = nil,
        _ change: (inout CacheSettings) -> Void = { _ in }
    ) async throws -> CacheFixture {
        let fixture = try CacheFixture(in: scope, directory: directory, change)
        fixture.origin.route("/a.png", .answer(headers: headers, body: image))
        #expect(try await fixture.fetch("/a.png").failures.isEmpty)
        return fixture
    }

    /// Confirms every revalidation.
    private func confirm(_ fixture: CacheFixture, _ headers: HeaderFields = [:]) {
        fixture.origin.route("/a.png", [.head(304, headers)])
    }

    /// Many origins only compare the text.
    @Test func aDateInAnotherFormGoesBackAsItCame() async throws {
        try await withTestScope { scope in
            for date in ["Sun, 6 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37+00:00"] {
                let fixture = try await fixture(
                    ["Cache-Control": "max-age=0", "Last-Modified": date], in: scope)
                fixture.origin.route("/a.png") { [image] request in
                    request.headers["If-Modified-Since"] == date
                        ? [.head(304, [:])] : .answer(body: image)
                }
                #expect(try await fixture.fetch("/a.png").failures.isEmpty)
                #expect(fixture.cache.statistics().bytesReceived == image.count)
            }
        }
    }

    private func facts(_ fixture: CacheFixture) throws -> EntryFacts {
        guard case .cached(let facts, _, _) = try fixture.lookup("/a.png") else {
            throw TestFailure("the image is not cached")
        }
        return facts
    }

    private func status(_ fixture: CacheFixture) throws -> stat {
        var status = stat()
        guard stat(try fixture.file("/a.png"), &status) == 0 else {
            throw TestFailure("the image has no file")
        }
        return status
    }

    // MARK: Hits

    @Test(arguments: ["max-age=1000", "public"])
    func aFreshImageIsAHit(control: String) async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(["Cache-Control": control], in: scope)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().count == 1)
            #expect(fixture.cache.statistics().hits == 1)
        }
    }

    @Test func revalidatesInTheBackgroundWithinTheWindow() async throws {
        try await withTestScope { scope in
            let window: HeaderFields = [
                "Cache-Control": "max-age=0, stale-while-revalidate=1000", "ETag": "\"1\"",
            ]
            let fixture = try await fixture(window, in: scope)
            let gate = try Gate()
            fixture.origin.route(
                "/a.png", [.wait(gate), .head(304, ["Cache-Control": "max-age=1000"])])
            for _ in 0..<3 { #expect(try await fixture.fetch("/a.png").failures.isEmpty) }
            try await gate.reached()
            gate.open()
            try await fixture.lookup("/a.png") { lookup in
                guard case .cached(let facts, _, _) = lookup else { return false }
                return facts.freshUntil.map { $0 > .now + 900 } == true
            }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().count == 2)
            #expect(fixture.cache.statistics().hits == 4)
        }
    }

    // MARK: Revalidation

    @Test func aConfirmationRefreshesTheRecordAndLeavesTheFile() async throws {
        try await withTestScope { scope in
            let headers = stale.withModified
            let fixture = try await fixture(headers, in: scope)
            let path = try fixture.file("/a.png")
            let old = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
            #expect(utimensat(AT_FDCWD, path, [old, old], 0) == 0)
            let before = try status(fixture)
            confirm(fixture, ["Cache-Control": "max-age=1000"])
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let question = try #require(fixture.origin.requests().last)
            #expect(question.headers["If-None-Match"] == "\"1\"")
            #expect(question.headers["If-Modified-Since"] == "Sun, 06 Nov 1994 08:49:37 GMT")
            await fixture.writeAttributes()
            let after = try status(fixture)
            #expect(after.st_ino == before.st_ino)
            #expect(after.st_mtim.tv_sec > 1_500_000_000)
            #expect(try contents(of: path) == image)
            #expect(try facts(fixture).freshUntil.map { $0 > .now + 900 } == true)
            #expect(fixture.cache.statistics().revalidated == 1)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().count == 2)
        }
    }

    @Test func aConfirmationCountsBeforeItIsWritten() async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(stale, in: scope)
            fixture.cache.maintenance.finish()
            await fixture.writeAttributes()
            let (path, key) = (try fixture.file("/a.png"), try fixture.imageRequest("/a.png").key)
            let attributes = ExtendedAttributes(of: path)
            let name = EntryRecord.attributeName(of: key)
            let before = try attributes.bytes(of: name)
            confirm(fixture, ["Cache-Control": "max-age=1000", "ETag": "\"1\""])
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try attributes.bytes(of: name) == before)
            // The file is looked at again.
            #expect(chmod(path, 0o640) == 0)
            for isWritten in [false, true] {
                if isWritten { await fixture.writeAttributes() }
                #expect(try facts(fixture).freshUntil.map { $0 > .now + 900 } == true)
                let record = try #require(fixture.cache.directory.entryRecord(of: key))
                #expect(record.terms.lifetime == 1000)
                #expect(record.validators.entityTag == "\"1\"")
            }
            #expect(try attributes.bytes(of: name) != before)
            #expect(fixture.cache.directory.unwritten.keys.isEmpty)
            #expect(fixture.origin.requests().count == 2)
        }
    }

    @Test func aConfirmationSurvivesARestart() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope).file("cache")
            let key = try await withTestScope { scope in
                let first = try await fixture(stale, in: scope, directory: directory)
                confirm(first, ["Cache-Control": "max-age=1000"])
                #expect(try await first.fetch("/a.png").failures.isEmpty)
                return try first.imageRequest("/a.png").key
            }
            let second = try CacheFixture(in: scope, directory: directory)
            guard case .cached(let facts, _, _)? = second.cache.lookup([key]).first else {
                throw TestFailure("the image is no longer cached")
            }
            #expect(facts.freshUntil.map { $0 > .now + 900 } == true)
        }
    }

    @Test func aConfirmationKeepsThePin() async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(stale, in: scope)
            let key = try fixture.imageRequest("/a.png").key
            await withCheckedContinuation { done in
                fixture.cache.pin([key], true) { _ in done.resume() }
            }
            confirm(fixture)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.cache.statistics().revalidated == 1)
            #expect(try facts(fixture).isPinned)
        }
    }

    @Test func aNewImageReplacesTheFileAndReadersKeepTheOld() async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(stale, in: scope)
            let path = try fixture.file("/a.png")
            let reader = open(path, O_RDONLY)
            defer { close(reader) }
            fixture.origin.route("/a.png", .answer(headers: ["ETag": "\"2\""], body: newer))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(of: path) == newer)
            #expect(try contents(of: "/proc/self/fd/\(reader)") == image)
        }
    }

    @Test func ignoresAConfirmationOfAnotherVersion() async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(stale, in: scope)
            let newer = newer
            fixture.origin.route("/a.png") { request in
                request.headers["If-None-Match"] == nil
                    ? .answer(headers: ["ETag": "\"2\""], body: newer)
                    : [.head(304, ["ETag": "\"2\""])]
            }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().count == 3)
            #expect(try contents(of: fixture.file("/a.png")) == newer)
        }
    }

    @Test func downloadsAnImageRemovedDuringItsRevalidation() async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(stale, in: scope)
            let gate = try Gate()
            let newer = newer
            fixture.origin.route("/a.png") { request in
                request.headers["If-None-Match"] == nil
                    ? .answer(body: newer) : [.wait(gate), .head(304, [:])]
            }
            let waiter = fixture.cache.fetch([try fixture.imageRequest("/a.png")], FetchOptions())
            try await gate.reached()
            #expect(unlink(try fixture.file("/a.png")) == 0)
            gate.open()
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == newer)
        }
    }

    /// Times of use lag the clock by up to a tick. An entry that is fresh until now must not stay
    /// fresh for that tick.
    @Test func anImageStaleByTheClockIsStaleAtOnce() {
        let before = UnixTime.now
        while UnixTime.now == before {}
        let now = UnixTime.now
        #expect(FileTime.now.wallTime >= now)
    }

    @Test func aRefreshRevalidatesAFreshImage() async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(
                ["Cache-Control": "max-age=1000", "ETag": "\"1\""], in: scope)
            confirm(fixture)
            let options = FetchOptions(isRefresh: true)
            #expect(try await fixture.fetch("/a.png", options: options).failures.isEmpty)
            #expect(fixture.origin.requests().last?.headers["If-None-Match"] == "\"1\"")
            #expect(fixture.cache.statistics().revalidated == 1)
        }
    }

    // MARK: The origin fails

    @Test(arguments: [
        OriginScript.answer(503), .answer(429), .cut(SampleImage.png(byteCount: 9000), after: 500),
    ])
    func servesAStaleImageAfterTheFirstFailure(script: OriginScript) async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(stale, in: scope) { $0.retry = RetryPolicy() }
            fixture.origin.route("/a.png", script)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try fixture.lookup("/a.png").isCached)
            #expect(try fixture.lookup("/a.png").failure != nil)
            // The failure is remembered, so the origin gets no request.
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().count == 2)
            #expect(fixture.cache.statistics().staleAnswers == 2)
            // Once the origin works again, the failure is forgotten.
            confirm(fixture, ["Cache-Control": "max-age=1000"])
            let options = FetchOptions(isRefresh: true)
            #expect(try await fixture.fetch("/a.png", options: options).failures.isEmpty)
            #expect(try fixture.lookup("/a.png").failure == nil)
        }
    }

    @Test func servesAStaleImageIfTheOriginIsUnreachable() async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(stale, in: scope) { $0.retry = RetryPolicy() }
            try await fixture.origin.stop()
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try fixture.lookup("/a.png").failure?.kind == .unreachable)
        }
    }

    @Test func servesAStaleImageWhileAnotherCallerRefreshes() async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(stale, in: scope) { $0.retry = RetryPolicy() }
            fixture.origin.route("/a.png", .answer(503, headers: ["Retry-After": "200"]))
            let imageRequest = try fixture.imageRequest("/a.png")
            let insisting = fixture.cache.fetch([imageRequest], FetchOptions(isRefresh: true))
            try await waitUntil("the first failure") {
                fixture.cache.read { $0.fetching.downloads[imageRequest.key]?.failure != nil }
            }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().count == 2)
            #expect(fixture.cache.statistics().staleAnswers == 1)
            fixture.cache.leave(insisting)
        }
    }

    @Test(arguments: ["max-age=0, must-revalidate", "no-cache", "max-age=0, stale-if-error=0"])
    func anImageThatMustBeRevalidatedFailsWithTheOrigin(control: String) async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(["Cache-Control": control], in: scope)
            fixture.origin.route("/a.png", .answer(503))
            #expect(try await fixture.fetch("/a.png").failures.values.first?.httpStatus == 503)
            #expect(try fixture.lookup("/a.png").isCached)
        }
    }

    @Test func aFailedRefreshIsReportedAtOnceAndLeavesTheImage() async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(["Cache-Control": "max-age=1000"], in: scope)
            fixture.origin.route("/a.png", .answer(503))
            let options = FetchOptions(isRefresh: true)
            let failures = try await fixture.fetch("/a.png", options: options).failures
            #expect(failures.values.first?.httpStatus == 503)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == image)
        }
    }

    @Test func removesAnImageThatTheOriginNoLongerHas() async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(stale, in: scope)
            fixture.origin.route("/a.png", .answer(404))
            #expect(try await fixture.fetch("/a.png").failures.values.first?.httpStatus == 404)
            #expect(try fixture.lookup("/a.png").isMissing)
            try await waitUntil("the removal of the file") {
                try access(fixture.file("/a.png"), F_OK) != 0
            }
        }
    }

    // MARK: Images that must not be stored

    private static let transient: [(HeaderFields, Bool)] = [
        (["Cache-Control": "no-store"], false), (["Vary": "Accept, *"], false),
        (["Cache-Control": "private, max-age=1000"], true),
    ]

    @Test(arguments: transient)
    func aNoStoreImageIsDeliveredAndNeverAHit(headers: HeaderFields, isShared: Bool)
        async throws
    {
        try await withTestScope { scope in
            let fixture = try await fixture(headers, in: scope) {
                $0.transfers.caching.isShared = isShared
                $0.transfers.caching.noStoreGrace = 1000
            }
            #expect(try contents(of: fixture.file("/a.png")) == image)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().count == 2)
            #expect(fixture.cache.statistics().hits == 0)
        }
    }

    @Test(arguments: transient)
    func removesANoStoreImage(headers: HeaderFields, isShared: Bool) async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(headers, in: scope) {
                $0.transfers.caching.isShared = isShared
                $0.transfers.caching.noStoreGrace = 0
            }
            try await fixture.lookup("/a.png") { $0 == .missing(nil) }
            try await waitUntil("the removal of the file") {
                try access(fixture.file("/a.png"), F_OK) != 0
            }
            #expect(fixture.cache.statistics().withdrawn.entries == 1)
        }
    }

    @Test func aLaterDaemonRemovesANoStoreImage() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope).file("cache")
            let key = try await withTestScope { scope in
                let first = try await fixture(
                    ["Cache-Control": "no-store"], in: scope, directory: directory
                ) { $0.transfers.caching.noStoreGrace = 1 }
                return try first.imageRequest("/a.png").key
            }
            let second = try CacheFixture(in: scope, directory: directory)
            try await waitUntil("the removal of the file") {
                second.cache.lookup([key])[0].isMissing
            }
        }
    }

    @Test func aPrivateImageStaysInAPrivateCache() async throws {
        try await withTestScope { scope in
            let fixture = try await fixture(["Cache-Control": "private, max-age=1000"], in: scope)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().count == 1)
        }
    }
}

extension HeaderFields {
    /// These fields, and the time of the image's last change.
    fileprivate var withModified: HeaderFields {
        HeaderFields(fields + [("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")])
    }
}

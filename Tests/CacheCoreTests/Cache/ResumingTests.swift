import CacheKey
import CacheValues
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Every response an origin can give to the request for the rest of an image.
@Suite("Cache: resuming", .timeLimit(.minutes(5)))
struct ResumingTests {
    static let image = SampleImage.png(width: 30, height: 20, byteCount: 200_000)
    static let other = SampleImage.png(width: 30, height: 20, byteCount: 200_000, seed: 1)
    static let half = 100_000

    /// A 206 with these bytes of an image and these fields.
    private static func part(
        _ bytes: ArraySlice<UInt8> = image[half...],
        range: String = "bytes 100000-199999/200000", etag: String? = "\"1\"",
        length: Int? = nil
    ) -> OriginScript {
        var fields: [(name: String, value: String)] = [
            ("Content-Range", range), ("Content-Length", "\(length ?? bytes.count)"),
        ]
        if let etag { fields.append(("ETag", etag)) }
        return [.head(206, HeaderFields(fields)), .bytes(Array(bytes)), .close]
    }

    @Test(arguments: [
        part(), part(range: "bytes 100000-199999/*"),
        [
            .head(
                206,
                [
                    "Content-Range": "bytes 100000-199999/200000", "ETag": "\"1\"",
                    "Connection": "close",
                ]),
            .bytes(Array(image[half...])), .close,
        ],
        .chunkedPart(Array(image[half...]), "bytes 100000-199999/200000"),
    ])
    func aMatchingPartResumesTheDownload(script: OriginScript) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            fixture.origin.route("/a.png", script)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let requests = fixture.origin.requests()
            #expect(requests.map { $0.headers["Range"] } == ["bytes=100000-"])
            #expect(requests.map { $0.headers["If-Range"] } == ["\"1\""])
            try fixture.expectEntry(Self.image)
            #expect(fixture.cache.statistics().bytesReceived == 100_000)
        }
    }

    @Test(arguments: [
        part(other[half...], etag: nil), part(other[half...], etag: "\"2\""),
        part(other[half...], etag: "W/\"1\""),
        part(range: "bytes 99999-199999/200000"), part(range: "bytes 100001-199999/200000"),
        part(range: "bytes 100000-199999/200001"), part(range: "bytes 100000-200000/200001"),
        part(range: "bytes */200000"), part(range: "bytes=100000-199999/200000"),
        part(range: "items 1-2/3"), part(image[(half + 1)...]),
        [.head(206, ["Content-Length": "100000"]), .bytes(Array(image[half...])), .close],
        .answer(416, headers: ["Content-Range": "bytes */100001"]),
        .answer(416, headers: ["Content-Range": "bytes */200000"]), .answer(416),
        .answer(416, body: Array(repeating: 7, count: 200_000)),
        .answer(
            206,
            headers: [
                "Content-Range": "bytes 100000-199999/200000", "ETag": "\"1\"",
                "Content-Encoding": "gzip",
            ], body: Array(image[half...])),
    ])
    func aUselessResponseLeadsToARequestForTheWholeImage(script: OriginScript) async throws {
        try await startsOver(after: script)
    }

    /// Some origins refuse requests for ranges.
    @Test(arguments: [204, 304, 400, 403, 501])
    func aRefusalOfTheRangeLeadsToARequestForTheWholeImage(status: Int) async throws {
        try await startsOver(after: [.head(status, ["Content-Length": "0"])])
    }

    private func startsOver(after script: OriginScript) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            fixture.origin.route("/a.png") { request in
                request.headers["Range"] == nil ? .answer(body: Self.other) : script
            }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let ranges = fixture.origin.requests().map { $0.headers["Range"] }
            #expect(ranges == ["bytes=100000-", nil])
            #expect(fixture.origin.requests().last?.headers["If-Range"] == nil)
            try fixture.expectEntry(Self.other)
        }
    }

    /// Half of a file was published for a whole one, at once with `CACHED_ACCEPT=any`.
    @Test(
        arguments: [
            ["Content-Range": "bytes 100000-199999/200000", "ETag": "\"1\""], ["ETag": "\"1\""],
            [:],
            ["Content-Range": "bytes 100000-199999/200000", "ETag": "\"2\""], ["ETag": "\"2\""],
            ["ETag": "W/\"1\""],
        ] as [HeaderFields], [true, false])
    func aPartWithTheStatusOfTheWholeIsNotPublished(
        fields: HeaderFields, hasLength: Bool
    ) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.transfers.acceptsAnything = true }
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            fixture.origin.route("/a.png") { request in
                request.headers["Range"] == nil
                    ? .answer(body: Self.image)
                    : hasLength
                        ? .answer(headers: fields, body: Array(Self.image[Self.half...]))
                        : .chunked(Array(Self.image[Self.half...]), headers: fields)
            }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let ranges = fixture.origin.requests().map { $0.headers["Range"] }
            #expect(ranges == ["bytes=100000-", nil])
            try fixture.expectEntry(Self.image)
        }
    }

    @Test func anUnaskedPartWithTheStatusOfTheWholeIsNotPublished() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.transfers.acceptsAnything = true }
            let range: HeaderFields = ["Content-Range": "bytes 0-99999/200000"]
            let first = Array(Self.image[..<Self.half])
            fixture.origin.route("/a.png", .answer(headers: range, body: first))
            let failure = try await fixture.fetch("/a.png").failures.values.first
            #expect(failure?.kind == .http)
            #expect(failure?.message.contains("not with the whole image") == true)
            // A field that does not fit the body says nothing about it.
            fixture.origin.route("/b.png", .answer(headers: range, body: Self.image))
            #expect(try await fixture.fetch("/b.png").failures.isEmpty)
        }
    }

    /// An origin that closes each connection after a while: no number of attempts is too high while the image grows.
    @Test func attemptsThatBringPartOfTheImageDoNotCount() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) {
                $0.retry = RetryPolicy()
                $0.retry.attempts = 2
                $0.retry.firstPause = .milliseconds(1)
            }
            fixture.origin.route("/a.png") { request in
                let first = request.firstOfRange ?? 0
                let range = first == 0 ? nil : "bytes \(first)-199999/200000"
                var fields: [(name: String, value: String)] = [
                    ("Content-Length", "\(200_000 - first)"), ("ETag", "\"1\""),
                ]
                if let range { fields.append(("Content-Range", range)) }
                return [
                    .head(range == nil ? 200 : 206, HeaderFields(fields)),
                    .bytes(Array(Self.image[first...].prefix(20_000))), .close,
                ]
            }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let ranges = fixture.origin.requests().map { $0.firstOfRange ?? 0 }
            #expect(ranges == Array(stride(from: 0, to: 200_000, by: 20_000)))
            try fixture.expectEntry(Self.image)
            // Without a validator each attempt starts over, and makes no progress.
            fixture.origin.route("/b.png", .cut(Self.image, after: 150_000))
            #expect(try await fixture.fetch("/b.png").failures.values.map(\.kind) == [.truncated])
            #expect(fixture.origin.requests("/b.png").count == 2)
        }
    }

    @Test func aWholeImageReplacesThePartial() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            fixture.origin.route("/a.png", .answer(headers: ["ETag": "\"2\""], body: Self.other))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().count == 1)
            try fixture.expectEntry(Self.other)
            #expect(fixture.cache.statistics().bytesReceived == 200_000)
        }
    }

    /// A partial that cannot be read is useless. If the origin sends the whole image anyway, one request is
    /// enough; otherwise the whole image is requested.
    @Test(arguments: [(200, 1), (206, 2)])
    func aPartialThatCannotBeReadIsReplaced(status: Int, requests: Int) async throws {
        try await withTestScope { scope in
            let faults = FaultPlan(.pread, nth: 1, .ioError)
            let fixture = try CacheFixture(in: scope, faults: faults)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            fixture.origin.route("/a.png") { request in
                status == 206 && request.headers["Range"] != nil
                    ? Self.part() : .answer(headers: ["ETag": "\"2\""], body: Self.other)
            }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            // A whole image can be there before the partial is read.
            #expect(faults.hasStruck || status == 200)
            #expect(fixture.origin.requests().count == requests)
            try fixture.expectEntry(Self.other)
        }
    }

    @Test(arguments: [0, 500, 200_000])
    func a416ShowsThatThePartialIsComplete(bodyLength: Int) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image, of: 200_000)
            fixture.origin.route(
                "/a.png",
                .answer(
                    416,
                    headers: [
                        "Content-Range": "bytes */200000", "Cache-Control": "max-age=9999",
                    ], body: Array(repeating: 1, count: bodyLength)))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().map { $0.headers["Range"] } == ["bytes=200000-"])
            try fixture.expectEntry(Self.image)
            // The freshness of the 416 does not apply to the image.
            guard case .cached(let facts, _, _) = try fixture.lookup("/a.png") else { return }
            #expect(try #require(facts.freshUntil) <= .now)
        }
    }

    @Test func a416WithABrokenBodyCompletesThePartial() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image, of: 200_000)
            let head: HeaderFields = [
                "Content-Range": "bytes */200000", "Content-Length": "500",
            ]
            fixture.origin.route("/a.png", [.head(416, head), .bytes([1, 2, 3]), .close])
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            try fixture.expectEntry(Self.image)
        }
    }

    /// In Unicode both tags are the same text.
    @Test func entityTagsAreComparedByteByByte() async throws {
        try await withTestScope { scope in
            let (tag, other) = ("\"\u{E9}\"", "\"e\u{301}\"")
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000, etag: tag)
            fixture.origin.route("/a.png") { request in
                request.headers["Range"] == nil
                    ? .answer(headers: ["ETag": other], body: Self.other)
                    : Self.part(Self.other[Self.half...], etag: other)
            }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().count == 2)
            try fixture.expectEntry(Self.other)
        }
    }

    @Test func aCompletePartialThatIsNoImageIsRefused() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Array("<html>".utf8), of: 6)
            fixture.origin.route("/a.png", .answer(416, headers: ["Content-Range": "bytes */6"]))
            let failure = try await fixture.fetch("/a.png").failures.values.first
            #expect(failure?.kind == .notAnImage)
            #expect(try !fixture.hasPartial("/a.png"))
        }
    }

    @Test func anErrorStatusKeepsThePartial() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            fixture.origin.route("/a.png", .answer(404))
            #expect(try await fixture.fetch("/a.png").failures.values.first?.httpStatus == 404)
            #expect(try contents(of: fixture.partial("/a.png")).count == Self.half)
        }
    }

    @Test func severalPartsMakeAnImage() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            fixture.origin.route("/a.png") { request in
                let first = request.firstOfRange ?? 0
                let end = min(first + 30_000, 200_000)
                return Self.part(
                    Self.image[first..<end], range: "bytes \(first)-\(end - 1)/200000")
            }
            try await fetchUntilCached(fixture)
            let ranges = fixture.origin.requests().map { $0.firstOfRange }
            #expect(ranges == [100_000, 130_000, 160_000, 190_000])
            try fixture.expectEntry(Self.image)
        }
    }

    @Test(arguments: [199_999, 100_009])
    func moreBytesThanPromisedAreRefused(last: Int) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            fixture.origin.route(
                "/a.png",
                [
                    .head(
                        206,
                        [
                            "Content-Range": "bytes 100000-\(last)/*", "ETag": "\"1\"",
                            "Connection": "close",
                        ]),
                    .bytes(Array(Self.image[Self.half...]) + [0]), .close,
                ])
            let failure = try await fixture.fetch("/a.png").failures.values.first
            #expect(failure?.kind == .protocolError)
            #expect(try !fixture.hasPartial("/a.png"))
        }
    }

    @Test func theDownloadAfterAResumedOneHasAnOrdinaryRequest() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.transfers.transferLimit = 1 }
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            for path in ["/a.png", "/b.png"] {
                fixture.origin.route(path) { .ranged(Self.image, for: $0) }
            }
            #expect(try await fixture.fetch("/a.png", "/b.png").failures.isEmpty)
            let request = try #require(fixture.origin.requests("/b.png").first)
            #expect(request.headers.names == ["host", "user-agent", "accept-encoding", "accept"])
        }
    }

    // MARK: Progress and space

    @Test func theBytesOfThePartialAreReportedAtOnce() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            let gate = try Gate()
            fixture.origin.route("/a.png") { request in
                OriginScript([.wait(gate)] + OriginScript.ranged(Self.image, for: request).steps)
            }
            let waiter = fixture.cache.fetch([try fixture.imageRequest("/a.png")], FetchOptions())
            try await gate.reached()
            let progress = try fixture.lookup("/a.png").progress
            #expect(progress == .init(phase: .connecting, received: 100_000, total: 200_000))
            gate.open()
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
        }
    }

    /// The partial changes after it was read, while the origin is asked for the rest: bytes are appended, or another
    /// file takes its name.
    @Test(arguments: [false, true])
    func aPartialThatAnotherProgramChangesIsNotResumed(isReplaced: Bool) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            let gate = try Gate()
            fixture.origin.route("/a.png") { request in
                let script = OriginScript.ranged(Self.image, for: request)
                return request.headers["Range"] == nil
                    ? script : OriginScript([.wait(gate)] + script.steps)
            }
            let waiter = fixture.cache.fetch([try fixture.imageRequest("/a.png")], FetchOptions())
            try await gate.reached()
            let partial = try fixture.partial("/a.png")
            if isReplaced { #expect(unlink(partial) == 0) }
            let file = open(partial, O_WRONLY | O_CREAT | O_APPEND, 0o644)
            #expect(write(file, "strange", 7) == 7)
            close(file)
            gate.open()
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            #expect(fixture.origin.requests().count == 2)
            try fixture.expectEntry(Self.image)
        }
    }

    @Test func aResumedImageNeedsNoMoreSpaceThanTheWholeOne() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope).directory("cache")
            let fixture = try CacheFixture(in: scope, directory: directory) {
                $0.limits.maximumBytes = Budget.allocation(for: 200_000)
                $0.limits.minimumFree = 0
            }
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            fixture.origin.route("/a.png") { .ranged(Self.image, for: $0) }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            try fixture.expectEntry(Self.image)
        }
    }

    @Test(arguments: [(5 << 20, 206), (6 << 20, 416)])
    func aLargePartialIsReadInPieces(received: Int, status: Int) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let image = SampleImage.png(byteCount: 6 << 20)
            try fixture.leavePartial("/a.png", image[..<received], of: image.count)
            fixture.origin.route("/a.png") { .ranged(image, for: $0) }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().map(\.firstOfRange) == [received])
            try fixture.expectEntry(image)
        }
    }

    // MARK: The published image

    private func fetchUntilCached(_ fixture: CacheFixture) async throws {
        try await waitUntil("the image to be whole") {
            try await fixture.fetch("/a.png", options: FetchOptions(isRefresh: true))
                .failures.isEmpty
        }
    }

    /// libcurl loses the piece that it held back when the disk filled. No later piece may follow the hole.
    @Test(arguments: 3...7)
    func aDiskThatFillsWhileADownloadIsPausedLeavesNoHole(nth: Int) async throws {
        try await withTestScope { scope in
            // The lock file and the tag are written first.
            let faults = FaultPlan(.write, nth: nth, .noSpace)
            let fixture = try CacheFixture(in: scope, faults: faults) {
                $0.transfers.maximumRate = 400_000
            }
            fixture.origin.route("/a.png") { request in
                guard let range = request.headers["Range"],
                    let start = Int(range.dropFirst("bytes=".count).dropLast())
                else { return .answer(headers: ["ETag": "\"1\""], body: Self.image) }
                return Self.part(Self.image[start...], range: "bytes \(start)-199999/200000")
            }
            #expect(try await fixture.fetch("/a.png").failures.values.map(\.kind) == [.storage])
            #expect(faults.hasStruck)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            try fixture.expectEntry(Self.image)
        }
    }
}

extension OriginScript {
    /// A 206 in the chunked transfer coding.
    fileprivate static func chunkedPart(_ bytes: [UInt8], _ range: String) -> Self {
        [
            .head(
                206,
                ["Content-Range": range, "ETag": "\"1\"", "Transfer-Encoding": "chunked"]),
            .chunk(bytes), .chunk([]),
        ]
    }
}

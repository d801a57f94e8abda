import CLinux
import CacheKey
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore

/// Every answer an origin can give to the question for the rest of an image.
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
    func aMatchingPartGoesOn(script: OriginScript) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            fixture.origin.route("/a.png", script)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let requests = fixture.origin.requests()
            #expect(requests.map { $0.headers["Range"] } == ["bytes=100000-"])
            #expect(requests.map { $0.headers["If-Range"] } == ["\"1\""])
            try await expectEntry(Self.image, in: fixture)
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
    func anAnswerOfNoUseLeadsToTheQuestionForAll(script: OriginScript) async throws {
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
            try await expectEntry(Self.other, in: fixture)
        }
    }

    @Test func aWholeAnswerStartsOver() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            fixture.origin.route("/a.png", .answer(headers: ["ETag": "\"2\""], body: Self.other))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().count == 1)
            try await expectEntry(Self.other, in: fixture)
            #expect(fixture.cache.statistics().bytesReceived == 200_000)
        }
    }

    /// What can't be read again is no part of anything. Where all of the image comes anyway it is not
    /// missed, else all of it is asked for.
    @Test(arguments: [(200, 1), (206, 2)])
    func aPartialThatCanNotBeReadIsReplaced(status: Int, requests: Int) async throws {
        try await withTestScope { scope in
            let faults = FaultPlan(.pread, nth: 1, .ioError)
            let fixture = try CacheFixture(in: scope, faults: faults)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            fixture.origin.route("/a.png") { request in
                status == 206 && request.headers["Range"] != nil
                    ? Self.part() : .answer(headers: ["ETag": "\"2\""], body: Self.other)
            }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(faults.hasStruck)
            #expect(fixture.origin.requests().count == requests)
            try await expectEntry(Self.other, in: fixture)
        }
    }

    @Test(arguments: [0, 500, 200_000])
    func whatIsThereAndAllThereIsIsWhole(bodyLength: Int) async throws {
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
            try await expectEntry(Self.image, in: fixture)
            // What the 416 said of itself is not said of the image.
            guard case .cached(let facts, _, _) = try fixture.lookup("/a.png") else { return }
            #expect(try #require(facts.freshUntil) <= .now)
        }
    }

    @Test func whatBecomesOfTheBodyOfA416DoesNotMatter() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image, of: 200_000)
            let head: HeaderFields = [
                "Content-Range": "bytes */200000", "Content-Length": "500",
            ]
            fixture.origin.route("/a.png", [.head(416, head), .bytes([1, 2, 3]), .close])
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            try await expectEntry(Self.image, in: fixture)
        }
    }

    /// To Unicode both tags are the same text.
    @Test func tagsAreComparedByteByByte() async throws {
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
            try await expectEntry(Self.other, in: fixture)
        }
    }

    @Test func whatIsWholeAndNoImageIsRefusedLikeAnyOther() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Array("<html>".utf8), of: 6)
            fixture.origin.route("/a.png", .answer(416, headers: ["Content-Range": "bytes */6"]))
            let failure = try await fixture.fetch("/a.png").failures.values.first
            #expect(failure?.kind == .notAnImage)
            #expect(try !fixture.hasPartial("/a.png"))
        }
    }

    @Test func anErrorIsOneAndKeepsThePartial() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            fixture.origin.route("/a.png", .answer(404))
            #expect(try await fixture.fetch("/a.png").failures.values.first?.httpStatus == 404)
            #expect(try contents(of: fixture.partial("/a.png")).count == Self.half)
        }
    }

    @Test func morePartsThanOneMakeAWhole() async throws {
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
            try await expectEntry(Self.image, in: fixture)
        }
    }

    @Test(arguments: [199_999, 100_009])
    func moreThanPromisedIsRefused(last: Int) async throws {
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

    @Test func theRequestAfterAContinuedOneIsAnOrdinaryOne() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.transfers.transferLimit = 1 }
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            for path in ["/a.png", "/b.png"] {
                fixture.origin.route(path) { .ranged(Self.image, for: $0) }
            }
            #expect(try await fixture.fetch("/a.png", "/b.png").failures.isEmpty)
            let request = try #require(fixture.origin.requests("/b.png").first)
            #expect(request.headers.names == ["host", "user-agent", "accept"])
        }
    }

    // MARK: What is shown, and room

    @Test func whatIsThereIsShownAtOnce() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            let gate = try Gate()
            fixture.origin.route("/a.png") { request in
                OriginScript([.wait(gate)] + OriginScript.ranged(Self.image, for: request).steps)
            }
            let interest = fixture.cache.fetch([try fixture.wish("/a.png")], FetchOptions())
            try await gate.reached()
            let progress = try fixture.lookup("/a.png").progress
            #expect(progress == .init(phase: .connecting, received: 100_000, total: 200_000))
            gate.open()
            #expect(try await fixture.outcome(of: interest).failures.isEmpty)
        }
    }

    @Test func roomForTheWholeIsEnough() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope).directory("cache")
            let fixture = try CacheFixture(in: scope, directory: directory) {
                $0.limits.maximumBytes = Budget.allocation(for: 200_000)
                $0.limits.minimumFree = 0
            }
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            fixture.origin.route("/a.png") { .ranged(Self.image, for: $0) }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            try await expectEntry(Self.image, in: fixture)
        }
    }

    @Test(arguments: [(5 << 20, 206), (6 << 20, 416)])
    func aLargePartialIsReadAgainPieceByPiece(received: Int, status: Int) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let image = SampleImage.png(byteCount: 6 << 20)
            try fixture.leavePartial("/a.png", image[..<received], of: image.count)
            fixture.origin.route("/a.png") { .ranged(image, for: $0) }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().map(\.firstOfRange) == [received])
            try await expectEntry(image, in: fixture)
        }
    }

    // MARK: What is written while a download runs

    @Test(
        arguments: [
            (
                ["ETag": "\"1\""],
                "v1 total=200000 boot=\(BootID.current) fresh= guessed=1 etag=\"1\""
            ),
            (
                ["ETag": "\"1\"", "Cache-Control": "max-age=9, must-revalidate"],
                "v1 total=200000 boot=\(BootID.current) fresh= lifetime=9 strict=1 etag=\"1\""
            ),
            (["ETag": "W/\"1\""], nil),
            ([:], nil),
            (["ETag": "\"1\"", "Cache-Control": "no-store"], nil),
            (
                ["Last-Modified": Sample.date(-60), "Date": Sample.date(0)],
                "v1 total=200000 boot=\(BootID.current) fresh= guessed=1 modified=1789999940"
            ),
            (["Last-Modified": Sample.date(0), "Date": Sample.date(0)], nil),
        ] as [(HeaderFields, String?)])
    func thePartialSaysWhetherItCanBeContinued(headers: HeaderFields, record: String?)
        async throws
    {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let gate = try Gate()
            fixture.origin.route("/a.png", .gated(Self.image, after: 1000, gate, headers: headers))
            let interest = fixture.cache.fetch([try fixture.wish("/a.png")], FetchOptions())
            try await fixture.lookup("/a.png") { $0.progress?.received == 1000 }
            let attributes = ExtendedAttributes(of: try fixture.partial("/a.png"))
            let timeless = try attributes[PartialRecord.attributeName]?
                .replacing(/fresh=\d+/, with: "fresh=")
            #expect(timeless == record)
            gate.open()
            #expect(try await fixture.outcome(of: interest).failures.isEmpty)
            try await expectEntry(Self.image, in: fixture)
        }
    }

    @Test func whoLeavesNearTheEndLeavesAWholeImage() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let gate = try Gate()
            fixture.origin.route("/a.png", .gated(Self.image, after: 190_000, gate))
            let interest = fixture.cache.fetch([try fixture.wish("/a.png")], FetchOptions())
            try await fixture.lookup("/a.png") { $0.progress?.received == 190_000 }
            fixture.cache.leave(interest)
            gate.open()
            try await fixture.lookup("/a.png") { $0.isCached }
            #expect(fixture.origin.requests().count == 1)
        }
    }

    // MARK: Hostile partials

    enum Hostile: CaseIterable {
        case symbolicLink, hardLink, fifo, noRecord, garbledRecord, tooLong, othersOwn
    }

    @Test(arguments: Hostile.allCases)
    func whatIsNotOursIsNeitherContinuedNorWrittenThrough(hostile: Hostile) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let precious = try TemporaryDirectory(in: scope).file("precious")
            try fixture.leavePartial("/a.png", Self.image[..<Self.half], of: 200_000)
            try make(hostile, fixture.partial("/a.png"), precious, fixture)
            fixture.origin.route("/a.png") { .ranged(Self.other, for: $0) }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().map(\.firstOfRange) == [nil])
            try await expectEntry(Self.other, in: fixture)
            if access(precious, F_OK) == 0 {
                #expect(try contents(of: precious) == Array(Self.image[..<Self.half]))
            }
        }
    }

    private func make(
        _ hostile: Hostile, _ path: String, _ precious: String, _ fixture: CacheFixture
    ) throws {
        switch hostile {
        case .symbolicLink:
            #expect(rename(path, precious) == 0)
            #expect(symlink(precious, path) == 0)
        case .hardLink: #expect(link(path, precious) == 0)
        case .fifo:
            #expect(unlink(path) == 0)
            #expect(mkfifo(path, 0o600) == 0)
        case .noRecord: #expect(removexattr(path, PartialRecord.attributeName) == 0)
        case .garbledRecord:
            try fixture.setPartialRecord(
                "v1 total=200000 boot=\(BootID.current) etag=\"1", of: path)
        case .tooLong:
            try fixture.setPartialRecord(
                "v1 total=99999 boot=\(BootID.current) etag=\"1\"", of: path)
        case .othersOwn:
            // Only root can give a file away.
            guard chown(path, 1, 1) == 0 else {
                return try make(.noRecord, path, precious, fixture)
            }
        }
    }

    // MARK: Age

    @Test func aPartialNobodyAskedForWithinADayGoes() async throws {
        try await withTestScope { scope in
            let folder = try TemporaryDirectory(in: scope)
            try folder.directory("cache")
            let now = FileTime.now
            // Of one to come nobody knows when it was.
            let daysAgo = [1, 0, -1].map {
                FileTime(nanoseconds: now.nanoseconds - $0 * 86_401_000_000_000).specification
            }
            let files = try ["old", "new", "ahead"].map {
                try folder.write($0, to: "cache/\(Sample.key($0)).part")
            }
            for (file, time) in zip(files, daysAgo) {
                #expect(utimensat(AT_FDCWD, file, [time, time], 0) == 0)
            }
            let fixture = try CacheFixture(in: scope, directory: folder.file("cache"))
            for file in [files[0], files[2]] {
                try await waitUntil("\(file) to go") { access(file, F_OK) != 0 }
            }
            #expect(access(files[1], F_OK) == 0)
            #expect(fixture.cache.statistics().partials == 1)
            let tomorrow = FileTime(nanoseconds: now.nanoseconds + 86_400_000_000_000)
            fixture.cache.discardOldPartials(now: tomorrow)
            try await waitUntil("the other to go") { access(files[1], F_OK) != 0 }
        }
    }

    // MARK: What there is in the end

    private func fetchUntilCached(_ fixture: CacheFixture) async throws {
        try await waitUntil("the image to be whole") {
            try await fixture.fetch("/a.png", options: FetchOptions(isRefresh: true))
                .failures.isEmpty
        }
    }

    /// The piece that was held back when the disk filled is lost: nothing may be put behind the hole.
    @Test(arguments: 3...7)
    func aDiskThatFillsWhileADownloadIsHeldBackLeavesNoHole(nth: Int) async throws {
        try await withTestScope { scope in
            // The lock's text and the tag are written before.
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
            try await expectEntry(Self.image, in: fixture)
        }
    }

    private func expectEntry(_ image: [UInt8], in fixture: CacheFixture) async throws {
        #expect(try contents(of: fixture.file("/a.png")) == image)
        #expect(try !fixture.hasPartial("/a.png"))
        var digest = SHA256()
        image.withUnsafeBytes { digest.update($0) }
        let details = fixture.cache.details(of: try fixture.wish("/a.png").key)
        #expect(details.sha256 == digest.finish())
        let attributes = ExtendedAttributes(of: try fixture.file("/a.png"))
        #expect(try attributes[PartialRecord.attributeName] == nil)
        guard case .cached(let facts, _, _) = try fixture.lookup("/a.png") else {
            Issue.record("it is not cached")
            return
        }
        #expect(facts.size == image.count)
        #expect(facts.mediaType == .png)
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

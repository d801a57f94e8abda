import CacheFetching
import CacheKey
import CacheValues
import CacheWire
import HTTPCaching
import ImageFormats
import NIOCore
import Testing

@testable import CacheCore
@testable import cached

/// The JSON written by hand is the same as encoding the type gives.
@Suite("Item writer", .timeLimit(.minutes(5)))
struct ItemWriterTests {
    static let texts = [
        "https://example.org/a.png", "", "with \"quotes\" and \\backslashes\\",
        "control \u{0} \u{1} \n \r \t \u{8} \u{C} \u{1F} \u{7F}", "ümläut 日本語 🖼 \u{2028}",
        "</script>/", String(repeating: "\u{1}", count: 3000),
        String(repeating: "x", count: 5000),
    ]
    let writer = ItemWriter(directory: "/var/cache/odd \"dir\"\\ü")

    @Test(arguments: texts)
    func aMissingURLHasStateMissing(url: String) throws {
        #expect(try written(url, .missing(nil)) == item(url, .missing))
    }

    @Test(arguments: texts)
    func aFailureHasAllItsFields(text: String) throws {
        let failure = CacheValues.Failure(
            .http, text, httpStatus: 404, retryAt: UnixTime(rawValue: 1_790_000_000))
        var expected = item(text, .missing)
        expected.failure = CacheWire.Failure(
            kind: "http", message: String(text.prefix(2048)), httpStatus: 404,
            retryAt: 1_790_000_000)
        #expect(try written(text, .missing(failure)) == expected)
        expected.failure = CacheWire.Failure(kind: "tls", message: "x")
        #expect(try written(text, .missing(CacheValues.Failure(.tls, "x"))) == expected)
    }

    @Test(arguments: texts)
    func aTextThatIsNotAURLHasAFailure(text: String) throws {
        let found = text.withUTF8Bytes { CacheURL.problem(in: $0) }
        guard let problem = found else { return }
        var output = ByteBuffer()
        text.withUTF8Bytes { writer.write(invalid: $0, problem, to: &output) }
        let item = try decoded(output)
        #expect(item.url == text)
        #expect(item.failure?.kind == CacheWire.Failure.invalidURL)
        #expect(item.failure?.message == problem.description)
    }

    @Test(arguments: [
        (CacheFetching.Phase.queued, Item.Phase.queued), (.connecting, .connecting),
        (.receiving, .receiving), (.retrying, .retrying), (.publishing, .publishing),
    ])
    func everyPhaseHasItsName(phase: CacheFetching.Phase, word: Item.Phase) throws {
        var expected = item("u", .inFlight)
        expected.phase = word
        expected.received = 7
        #expect(
            try written("u", .inFlight(.init(phase: phase, received: 7, total: nil))) == expected)
    }

    @Test(arguments: [
        (0, 1, 0.0), (1, 3, 33.33), (2, 3, 66.66), (999, 1000, 99.9), (1, 100_000, 0.0),
        (42, 100, 42.0), (5, 5, 100.0), (64 << 20, 64 << 20, 100.0), (9, 10_000, 0.09),
    ])
    func percentHasTwoDecimalsAndIsNeverRoundedUp(received: Int64, total: Int64, percent: Double)
        throws
    {
        let item = try written(
            "u", .inFlight(.init(phase: .receiving, received: received, total: total)))
        #expect(item.percent == percent)
        #expect(item.received == Int(received))
        #expect(item.total == Int(total))
    }

    @Test func percentIsAbsentIfTheTotalIsZero() throws {
        let item = try written("u", .inFlight(.init(phase: .receiving, received: 0, total: 0)))
        #expect(item.percent == nil)
        #expect(item.total == 0)
    }

    @Test(arguments: texts)
    func aCachedEntryHasItsPathAndFactsFromMemory(url: String) throws {
        let expected = cachedItem(url)
        #expect(try written(url, .cached(facts())) == expected)
        var bare = facts()
        bare.width = nil
        var withoutPixels = expected
        withoutPixels.width = nil
        withoutPixels.height = nil
        #expect(try written(url, .cached(bare)) == withoutPixels)
    }

    @Test func anImageThatIsTurnedSaysHow() throws {
        var expected = cachedItem("u")
        var turned = facts()
        for number in 2...8 as ClosedRange<UInt8> {
            turned.orientation = try #require(Orientation(rawValue: number))
            expected.orientation = Int(number)
            #expect(try written("u", .cached(turned)) == expected)
        }
    }

    @Test(arguments: [false, true])
    func detailsAreAddedOnRequest(isPinned: Bool) throws {
        let digest = String(repeating: "0f", count: 32)
        var facts = facts()
        facts.isPinned = isPinned
        facts.freshUntil = UnixTime(rawValue: 1_790_000_300)
        var expected = cachedItem("u")
        expected.sha256 = digest
        expected.fetchedAt = 1_790_000_100
        expected.freshUntil = 1_790_000_300
        expected.lastUsedAt = 1_790_000_200
        expected.pinned = isPinned
        expected.names = 3
        expected.sourceURL = "https://a/\"b\"?sig=1"
        let details = EntryDetails(
            url: "other", sha256: ContentDigest(digest), source: expected.sourceURL, names: 3)
        #expect(try written("u", .cached(facts), details) == expected)
        (expected.sha256, expected.names, expected.sourceURL) = (nil, nil, nil)
        expected.freshUntil = nil
        facts.freshUntil = nil
        var record = EntryRecord(
            size: 1, mediaType: .png, width: nil, height: nil, fetchedAt: facts.fetchedAt,
            freshUntil: nil,
            validators: Validators(
                entityTag: "W/\"a\\b\"", lastModified: UnixTime(rawValue: 1_700_000_000),
                source: ResponseSource(url: "https://example.com/a.png")),
            isPinned: false)
        record.terms.mustRevalidate = true
        let none = EntryDetails(url: nil, sha256: nil, origin: OriginDetails(record))
        (expected.etag, expected.modified) = ("W/\"a\\b\"", 1_700_000_000)
        (expected.strict, expected.redirect) = (true, "8726-7982c1849d2a")
        #expect(try written("u", .cached(facts), none) == expected)
    }

    @Test func aFailureCanBelongToAnyState() throws {
        let failure = Failure(
            .http, "busy", httpStatus: 503, retryAt: UnixTime(rawValue: 1_790_000_300))
        let wire = CacheWire.Failure(
            kind: "http", message: "busy", httpStatus: 503, retryAt: 1_790_000_300)
        var cached = cachedItem("u")
        cached.failure = wire
        #expect(try written("u", .cached(facts(), failure: failure)) == cached)
        var progress = Progress(phase: .retrying, received: 0, total: nil)
        progress.failure = failure
        #expect(try written("u", .inFlight(progress)).failure == wire)
        #expect(try written("u", .missing(failure)).failure == wire)
    }

    @Test func theLargestNumbersFit() throws {
        var facts = facts()
        facts.size = .max
        facts.width = Int(UInt32.max)
        facts.height = Int(UInt32.max)
        #expect(try written("u", .cached(facts)).size == .max)
    }

    @Test func aReplyOfItemsIsOneMessage() throws {
        let replies = ReplyWriter(items: writer)
        for count in [0, 1, 3] {
            var output = ByteBuffer()
            replies.writeItems(of: 0..<count, continues: count == 3, after: "k", to: &output) {
                number, output in
                "\(number)".withUTF8Bytes {
                    writer.write(url: $0, CacheKey(urlBytes: $0), .missing(nil), to: &output)
                }
            }
            let bytes = Array(output.readableBytesView)
            #expect(bytes.last == 0)
            #expect(bytes.count { $0 == 0 } == 1)
            let reply = try Message.decode(
                Reply<Methods.List.Reply>.self, from: bytes.dropLast())
            #expect(reply.continues == (count == 3 ? true : nil))
            #expect(reply.parameters?.items.map(\.url) == (0..<count).map { "\($0)" })
            #expect(reply.parameters?.after == "k")
        }
    }

    // MARK: Expected items

    private func item(_ url: String, _ state: Item.State) -> Item {
        Item(url: url, key: url.withUTF8Bytes { CacheKey(urlBytes: $0).description }, state: state)
    }

    private func cachedItem(_ url: String) -> Item {
        var item = item(url, .cached)
        item.path = "/var/cache/odd \"dir\"\\ü/\(item.key)"
        item.size = 22031
        item.mediaType = MediaType.png.name
        item.width = 64
        item.height = 48
        return item
    }

    private func facts() -> EntryFacts {
        EntryFacts(
            size: 22031, allocated: 24576, mediaType: .png, width: 64, height: 48,
            fetchedAt: UnixTime(rawValue: 1_790_000_100), freshUntil: nil,
            lastUsedAt: FileTime(nanoseconds: 1_790_000_200_999_999_999), isPinned: false)
    }

    private func written(
        _ url: String, _ lookup: Lookup, _ details: EntryDetails? = nil
    ) throws -> Item {
        var output = ByteBuffer()
        url.withUTF8Bytes { bytes in
            writer.write(
                url: bytes, CacheKey(urlBytes: bytes), lookup, details: details, to: &output)
        }
        return try decoded(output)
    }

    private func decoded(_ output: ByteBuffer) throws -> Item {
        try Message.decode(Item.self, from: output.readableBytesView)
    }
}

@Suite("JSON bytes", .timeLimit(.minutes(5)))
struct JSONBytesTests {
    @Test(arguments: [
        0, 1, 9, 10, 99, 100, 101, 999_999_999, 1_000_000_000, Int64.max, -1, -10, Int64.min,
    ])
    func numbersAreDecimal(number: Int64) {
        #expect(written { $0.put(number) } == "\(number)")
    }

    @Test func numbersOfOtherWidthsAreDecimal() {
        #expect(written { $0.put(UInt64.max) } == "18446744073709551615")
        #expect(written { $0.put(UInt16(200)) } == "200")
        #expect(written { $0.put(Int8.min) } == "-128")
    }

    @Test func everyByteIsEscapedAsTheDecoderExpects() throws {
        for scalar in (0..<0x250).compactMap({ Unicode.Scalar(UInt32($0)) }) {
            let text = "a\(Character(scalar))b"
            let json = written(room: 100) { output in
                output.put("\"")
                output.putEscaped(text)
                output.put("\"")
            }
            #expect(try Message.decode(String.self, from: json.utf8) == text)
        }
    }

    @Test func textNeverNeedsMoreThanTheReservedBytes() {
        let text = String(repeating: "\u{1}", count: 50)
        let json = written(room: 50 * JSONBytes.escapedRoom) { $0.putEscaped(text) }
        #expect(json.utf8.count == 50 * JSONBytes.escapedRoom)
    }

    private func written(
        room: Int = JSONBytes.numberRoom, _ body: (inout JSONBytes) -> Void
    ) -> String {
        var buffer = ByteBuffer()
        buffer.writeJSON(room: room, body)
        return String(buffer: buffer)
    }
}

import CacheWire
import TestSupport
import Testing

@testable import ClientCore

/// Replies are read as the decoder of `CacheWire` reads them, and hostile ones do no harm.
@Suite struct ReplyTests {
    private func read(_ json: [UInt8]) -> ScannedReply? {
        json.withUnsafeBytes { ScannedReply($0) }
    }

    private func text(_ start: Int?, _ reply: ScannedReply) -> String? {
        start.map { String(decoding: reply.texts[$0...].prefix { $0 != 0 }, as: UTF8.self) }
    }

    private func item(_ random: inout SeededGenerator) -> Item {
        var item = Item(
            url: "https://example.com/" + random.one(of: ["a", "ü", "\"", "\\", "日本", "%20"]),
            key: "k", state: random.one(of: [.missing, .inFlight, .cached]))
        if item.state == .cached {
            (item.size, item.path) = (
                Int.random(in: 1...1 << 40, using: &random),
                "/c/\"x\"/df150ea2-346e-516e-a71e-edab7a7d28ef"
            )
        } else if random.oneIn(2) {
            (item.received, item.total) = (5, 1000)
        }
        if random.oneIn(2) { (item.mediaType, item.width, item.height) = ("image/png", 640, 480) }
        if item.state != .inFlight, random.oneIn(3) {
            item.failure = Failure(
                kind: "http", message: "no \u{1}\n", httpStatus: 404, retryAt: 1_790_000_000)
        }
        return item
    }

    @Test func repliesAreReadAsTheDecoderReadsThem() throws {
        var random = SeededGenerator(seed: 42)
        for _ in 0..<500 {
            let items = (0..<Int.random(in: 0...4, using: &random)).map { _ in item(&random) }
            let json = Message.json(CacheWire.Reply(ItemList(items: items), continues: true))
            let reply = try #require(read(json))
            #expect(reply.continues && reply.error == nil && reply.events.count == items.count)
            for (event, item) in zip(reply.events, items) {
                let failed = item.state == .missing && item.failure != nil
                #expect("\(event.state)" == (failed ? "failed" : item.state.rawValue))
                #expect(text(event.url, reply) == item.url)
                #expect(text(event.path, reply) == item.path)
                #expect(text(event.mediaType, reply) == item.mediaType)
                #expect(text(event.kind, reply) == item.failure?.kind)
                #expect(text(event.message, reply) == item.failure?.message)
                #expect(event.received == item.size ?? item.received ?? 0)
                #expect(event.total == item.size ?? item.total ?? -1)
                #expect(event.width == item.width ?? 0 && event.height == item.height ?? 0)
            }
        }
    }

    @Test(arguments: [
        (#"{"parameters":{"items":[]},"continues":true}"#, true), (#"{"error":"e"}"#, true),
        (
            #"{"parameters":{"items":[],"removed":["k"],"pressure":"critical","x":[{"y":null}]}}"#,
            true
        ),
        (
            #"{"parameters":{"items":[{"url":"u","state":"missing","new":{"a":[1.5e3,true]}}]}}"#,
            true
        ),
        (#"{"parameters":{"items":[{"url":"u","state":"missing","path":null}]}}"#, true),
        (#"{"parameters":{"items":[{"\u0075rl":"u","st\u0061te":"missing"}]}}"#, true),
        (#"{"parameters":{"items":[{"url":"u","state":"later"}]}}"#, false),
        (#"{"parameters":{"items":[{"url":"u","state":"cached"}]}}"#, false),
        (#"{"parameters":{"items":[{"url":"u","state":"cached","path":"a/b"}]}}"#, false),
        (#"{"parameters":{"items":[{"url":"u","state":"missing","received":-1}]}}"#, false),
        (
            #"{"parameters":{"items":[{"url":"u","state":"missing","failure":{"kind":"http"}}]}}"#,
            false
        ),
        ("", false), ("{", false), ("[]", false), ("{}x", false), (#"{"continues":1}"#, false),
        (#"{"parameters":{"items":[{"url":"u"}]}}"#, false),
        (#"{"parameters":{"items":[{"state":"cached"}]}}"#, false),
        (#"{"parameters":{"items":[{"url":"\u0000","state":"cached"}]}}"#, false),
        (#"{"parameters":{"items":[{"url":"\ud800","state":"cached"}]}}"#, false),
        (#"{"parameters":{"items":[{"url":"\x","state":"cached"}]}}"#, false),
        (#"{"parameters":{"items":[{"url":"u","state":"cached","size":"1"}]}}"#, false),
    ])
    func onlyRepliesAreTaken(json: String, isReply: Bool) {
        #expect((read(Array(json.utf8)) != nil) == isReply)
    }

    /// For any bytes, reading ends, and texts end with a NUL.
    @Test func damagedRepliesDoNoHarm() {
        var random = SeededGenerator(seed: 43)
        for _ in 0..<20_000 {
            let reply = CacheWire.Reply(ItemList(items: [item(&random), item(&random)]))
            var json = Message.json(reply)
            random.damage(&json)
            guard let read = read(json) else { continue }
            #expect(read.texts.last ?? 0 == 0)
        }
        let deep = Array(String(repeating: #"{"a":["#, count: 100_000).utf8)
        #expect(read(deep) == nil)
    }

    @Test func escapesStandForTheirCharacters() throws {
        let json =
            #"{"parameters":{"items":[{"url":"\u00fc\ud83d\ude00\/\n\t\"","state":"missing"}]}}"#
        let reply = try #require(read(Array(json.utf8)))
        #expect(text(reply.events[0].url, reply) == "ü😀/\n\t\"")
    }
}

import TestSupport
import Testing

@testable import CacheWire

/// Replies that are parsed by hand equal those of a decoder.
@Suite struct ScanningTests {
    private typealias Reply = CacheWire.Reply<Methods.Status.Reply>

    private func scanned(_ json: [UInt8]) -> Reply? {
        json.withUnsafeBytes { Reply(scanning: $0) }
    }

    @Test func writtenRepliesAreParsed() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<500 {
            let items = (0..<Int.random(in: 0..<4, using: &random)).map { _ in item(&random) }
            let continues = [nil, true, false].randomElement(using: &random) ?? nil
            let reply = Reply(Methods.Status.Reply(items: items), continues: continues)
            let json = Message.json(reply)
            #expect(scanned(json) == reply, "\(String(decoding: json, as: UTF8.self))")
        }
    }

    /// One byte is added, removed or changed. If the fast parser accepts the result, a decoder must
    /// decode the same reply.
    @Test func corruptedMessagesParseAsTheDecoderParsesThem() throws {
        var random = SeededGenerator(seed: 12)
        var found = 0
        for _ in 0..<20_000 {
            let reply = Reply(Methods.Status.Reply(items: [item(&random)]), continues: true)
            var json = Message.json(reply)
            json.corruptOneByte(using: &random)
            guard let scanned = scanned(json) else { continue }
            found += 1
            let decoded: Reply = try Message.decode(from: json)
            #expect(decoded == scanned, "\(String(decoding: json, as: UTF8.self))")
        }
        #expect(found > 1000)
    }

    @Test(arguments: [
        "0", "7", "12345678901234", "0.5", "0.05", "45.67", "99.99", "100.00", "12345678.9012345",
    ])
    func numbersEqualThoseOfTheDecoder(number: String) throws {
        let json = Array(
            #"{"parameters":{"items":[{"url":"u","key":"k","state":"inFlight","percent":\#(number)}]}}"#
                .utf8)
        let decoded: Reply = try Message.decode(from: json)
        #expect(scanned(json) == decoded)
    }

    @Test(arguments: ["0", "-1", "-0", "999999999999999999", "1234567890123456"])
    func integersEqualThoseOfTheDecoder(number: String) throws {
        let json = Array(
            #"{"parameters":{"items":[{"url":"u","key":"k","state":"cached","size":\#(number)}]}}"#
                .utf8)
        let decoded: Reply = try Message.decode(from: json)
        #expect(scanned(json) == decoded)
    }

    @Test(arguments: [
        #"{"url":"u","key":"k"}"#, #"{"url":"u","key":"k","state":"gone"}"#,
        #"{"url":"u","url":"v","key":"k","state":"missing"}"#,
        #"{"url":"u","key":"k","state":"missing","later":1}"#,
        #"{"url":"ü","key":"k","state":"missing"}"#,
        #"{"url":"\u0041","key":"k","state":"missing"}"#,
        #"{"url":"u","key":"k","state":"cached","size":01}"#,
        #"{"url":"u","key":"k","state":"cached","size":1.5}"#,
        #"{"url":"u","key":"k","state":"cached","size":1e3}"#,
        #"{"url":"u","key":"k","state":"cached","size":1234567890123456789}"#,
        #"{"url":"u","key":"k","state":"cached","size":null}"#,
        #"{"url":"u","key":"k","state":"inFlight","percent":0.12345678901234567}"#,
        #"{"url":"u","key":"k","state":"inFlight","percent":.5}"#,
        #"{"url":"u","key":"k","state":"inFlight","percent":5.}"#,
        #"{"url":"u","key":"k","state":"missing",}"#, #"{}"#, #"[]"#, #""u""#,
    ])
    func otherMessagesAreLeftToTheDecoder(item: String) {
        #expect(scanned(Array(#"{"parameters":{"items":[\#(item)]}}"#.utf8)) == nil)
    }

    @Test(arguments: [
        "", "{}", #"{"parameters":{}}"#, #"{"parameters":{"items":[]}}x"#, #"{"error":"e"}"#,
        #"{"parameters":{"items":[]},"continues":1}"#, #"{"parameters":{"items":[],"after":"x"}}"#,
        #"{"parameters":{"items":[]},"parameters":{"items":[]}}"#,
    ])
    func messagesOfOtherFormsAreLeftToTheDecoder(json: String) {
        #expect(scanned(Array(json.utf8)) == nil)
    }

    private func item(_ random: inout SeededGenerator) -> Item {
        func maybe<Value>(_ value: Value) -> Value? {
            Bool.random(using: &random) ? value : nil
        }
        func number() -> Int {
            Int.random(in: 0..<1_000_000_000_000, using: &random)
                >> Int.random(in: 0..<40, using: &random)
        }
        var item = Item(
            url: "https://example.com/\(number()).png?a=b&c", key: "1c385ad3-9346-514e",
            state: Item.State.allCases.randomElement(using: &random) ?? .missing)
        item.phase = maybe(Item.Phase.allCases.randomElement(using: &random) ?? .queued)
        item.received = maybe(number())
        item.total = maybe(number())
        item.percent = maybe(Double(Int.random(in: 0...10_000, using: &random)) / 100)
        item.path = maybe("/var/cache/x/\(number())")
        item.size = maybe(number())
        item.mediaType = maybe("image/png")
        item.width = maybe(number())
        item.height = maybe(number())
        item.sha256 = maybe("ab12")
        item.fetchedAt = maybe(number())
        item.freshUntil = maybe(number())
        item.lastUsedAt = maybe(number())
        item.pinned = maybe(Bool.random(using: &random))
        item.failure = maybe(
            Failure(
                kind: "http", message: "the server answered", httpStatus: maybe(404),
                retryAt: maybe(number())))
        return item
    }
}

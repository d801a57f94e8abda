import TestSupport
import Testing

@testable import CacheWire

/// Calls that are parsed by hand equal those of a decoder.
@Suite struct LongCallTests {
    private typealias Fetch = Call<Methods.Fetch.Parameters>

    private func scanned(_ json: some Sequence<UInt8>) -> Fetch? {
        Array(json).withUnsafeBytes { Fetch(scanning: $0) }
    }

    @Test func writtenCallsAreParsed() throws {
        var random = SeededGenerator(seed: 21)
        for _ in 0..<500 {
            let call = call(&random)
            let message = Message.encode(call)
            #expect(message.last == 0)
            if call.parameters != .init() { #expect(scanned(message.dropLast()) == call) }
            #expect(try Message.decode(from: message.dropLast()) == call)
        }
    }

    @Test(arguments: [
        "http://a.example/ü", "http://a.example/\u{7F}", "http://a.example/\"", "a\\b", "\u{1}", "",
        #""urls":[]"#, #"","urls":[],"x":""#,
    ])
    func callsWithUnusualURLsAreEncodedCorrectly(url: String) throws {
        let call = Fetch(
            .fetch, parameters: .init(urls: ["http://a.example/1", url], sha256: url), more: true)
        let message = Message.encode(call)
        #expect(message.last == 0 && message.count { $0 == 0 } == 1)
        #expect(try Message.decode(from: message.dropLast()) == call)
        let status = Call<Methods.Status.Parameters>(.status, parameters: .init(urls: [url, url]))
        #expect(try Message.decode(from: Message.encode(status).dropLast()) == status)
    }

    /// One byte is added, removed or changed. If the fast parser accepts the result, a decoder must
    /// decode the same call.
    @Test func corruptedMessagesParseAsTheDecoderParsesThem() throws {
        var random = SeededGenerator(seed: 22)
        var found = 0
        for _ in 0..<20_000 {
            var json = Array(Message.encode(call(&random)).dropLast())
            json.corruptOneByte(using: &random)
            guard let scanned = scanned(json) else { continue }
            found += 1
            let decoded: Fetch = try Message.decode(from: json)
            #expect(decoded == scanned, "\(String(decoding: json, as: UTF8.self))")
        }
        #expect(found > 1000)
    }

    @Test func adjustmentsAreParsed() throws {
        for parameters in [
            Methods.Adjust.Parameters(add: [Want(url: "u", priority: .visible), Want(url: "v")]),
            .init(drop: ["u"]), .init(add: [], drop: []),
        ] {
            let call = Call(.adjust, parameters: parameters, oneway: true)
            let json = Message.json(call)
            let scanned = json.withUnsafeBytes { Call<Methods.Adjust.Parameters>(scanning: $0) }
            #expect(scanned == call)
            #expect(try Message.decode(from: json) == call)
        }
    }

    @Test func emptyParametersEqualThoseOfTheDecoder() throws {
        let json = Array(#"{"method":"io.cached.Cache.Fetch","parameters":{}}"#.utf8)
        let decoded: Fetch = try Message.decode(from: json)
        #expect(scanned(json) == decoded)
    }

    @Test(arguments: [
        "", "{}", #"{"method":"io.cached.Cache.Fetch"}"#,
        #"{"method":"io.cached.Cache.Status","parameters":{"urls":[]}}"#,
        #"{"method":"io.cached.Cache.Fetch","parameters":{"urls":[]}}x"#,
        #"{"method":"io.cached.Cache.Fetch","parameters":{"urls":[],"urls":[]}}"#,
        #"{"method":"io.cached.Cache.Fetch","parameters":{"urls":[],"later":1}}"#,
        #"{"method":"io.cached.Cache.Fetch","parameters":{"urls":[1]}}"#,
        #"{"method":"io.cached.Cache.Fetch","parameters":{"urls":[],"priority":"high"}}"#,
        #"{"method":"io.cached.Cache.Fetch","parameters":{"urls":[],"wait":null}}"#,
        #"{"method":"io.cached.Cache.Fetch","parameters":{"urls":[]},"upgrade":true}"#,
    ])
    func otherMessagesAreLeftToTheDecoder(json: String) {
        #expect(scanned(json.utf8) == nil)
    }

    private func call(_ random: inout SeededGenerator) -> Fetch {
        func maybe<Value>(_ value: Value) -> Value? {
            Bool.random(using: &random) ? value : nil
        }
        let count = Int.random(in: 0..<4, using: &random)
        let urls = (0..<count).map { "https://example.com/\($0).png?a=b&c" }
        let wants = urls.map { Want(url: $0, priority: maybe(.visible)) }
        return Fetch(
            .fetch,
            parameters: .init(
                urls: maybe(urls), wants: maybe(wants),
                priority: maybe(Priority.allCases.randomElement(using: &random) ?? .normal),
                refresh: maybe(.random(using: &random)), wait: maybe(.random(using: &random)),
                sha256: maybe("ab12"), follow: maybe(.random(using: &random))),
            oneway: maybe(.random(using: &random)), more: maybe(.random(using: &random)))
    }
}

import CacheWire
import TestSupport
import Testing

@testable import cached

@Suite("Plain call", .timeLimit(.minutes(5)))
struct PlainCallTests {
    static let method = "\"method\":\"io.cached.Cache.Status\""

    @Test(arguments: [
        "{\(method),\"parameters\":{\"urls\":[\"a\",\"b c\"]}}",
        "{\"parameters\":{\"urls\":[\"a\",\"b c\"]},\(method)}",
        " \t\r\n{ \(method) ,\n\"parameters\" : { \"urls\" : [ \"a\" ,\t\"b c\" ] } }\r\n ",
    ])
    func membersCanHaveAnyOrderAndWhiteSpace(text: String) {
        #expect(urls(text) == ["a", "b c"])
    }

    @Test func aCallCanNameNoURL() {
        #expect(urls("{\(Self.method),\"parameters\":{\"urls\":[]}}") == [])
        #expect(urls("{\(Self.method),\"parameters\":{\"urls\":[ ]}}") == [])
        #expect(urls("{\(Self.method),\"parameters\":{\"urls\":[\"\"]}}") == [""])
    }

    @Test(arguments: [
        "", " ", "{}", "[]", "null", "{", "{\(method)}", "{\"parameters\":{\"urls\":[\"a\"]}}",
        "{\(method),\"parameters\":{}}", "{\(method),\"parameters\":null}",
        "{\(method),\"parameters\":{\"urls\":null}}", "{\(method),\"parameters\":{\"urls\":\"a\"}}",
        "{\(method),\"parameters\":{\"urls\":[1]}}",
        "{\(method),\"parameters\":{\"urls\":[\"a\",]}}",
        "{\(method),\"parameters\":{\"urls\":[,\"a\"]}}",
        "{\(method),\"parameters\":{\"urls\":[\"a\" \"b\"]}}",
        "{\(method),\"parameters\":{\"urls\":[\"a\"]}",
        "{\(method),\"parameters\":{\"urls\":[\"a\"}}",
        "{\(method),\"parameters\":{\"urls\":[\"a]}}",
        "{\(method),\"parameters\":{\"urls\":[\"a\"]}}x",
        "{\(method),\"parameters\":{\"urls\":[\"a\"]}},",
        "{\(method),\"parameters\":{\"urls\":[\"a\"]},}",
        "{\(method) \"parameters\":{\"urls\":[\"a\"]}}",
        "{\(method),\(method),\"parameters\":{\"urls\":[\"a\"]}}",
        "{\(method),\"parameters\":{\"urls\":[\"a\"],\"urls\":[]}}",
        "{\(method),\"parameters\":{\"urls\":[\"a\"],\"details\":true}}",
        "{\(method),\"parameters\":{\"urls\":[\"a\"]},\"more\":true}",
        "{\(method),\"parameters\":{\"urls\":[\"a\"]},\"oneway\":true}",
        "{\"Method\":\"io.cached.Cache.Status\",\"parameters\":{\"urls\":[\"a\"]}}",
        "{\"method\":\"io.cached.Cache.Statu\",\"parameters\":{\"urls\":[\"a\"]}}",
        "{\"method\":\"io.cached.Cache.Status \",\"parameters\":{\"urls\":[\"a\"]}}",
        "{\"method\":\"io.cached.Cache.Fetch\",\"parameters\":{\"urls\":[\"a\"]}}",
        "{\"method\":null,\"parameters\":{\"urls\":[\"a\"]}}",
        "{\(method),\"parameters\":{\"urls\":[\"\\u0061\"]}}",
        "{\(method),\"parameters\":{\"urls\":[\"a\\/b\"]}}",
        "{\(method),\"parameters\":{\"urls\":[\"é\"]}}",
        "{\(method),\"parameters\":{\"urls\":[\"a\u{7F}\"]}}",
        "{\(method),\"parameters\":{\"urls\":[\"a\tb\"]}}",
        "\u{FEFF}{\(method),\"parameters\":{\"urls\":[\"a\"]}}",
        "{\(method)\u{B},\"parameters\":{\"urls\":[\"a\"]}}",
    ])
    func anyOtherMessageIsLeftToTheDecoder(text: String) {
        #expect(urls(text) == nil)
    }

    @Test(arguments: [UInt64](1...4))
    func theScannerFindsWhatTheDecoderFinds(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let text = call(&random)
            let found = try #require(urls(text), "seed \(seed): \(text)")
            #expect(found == decoded(text), "seed \(seed): \(text)")
        }
    }

    /// The scanner may be strict but never wrong: if it accepts a damaged call, the decoder reads the same.
    @Test(arguments: [UInt64](1...4))
    func theScannerIsNeverWrongAboutADamagedCall(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = Array("\"\\{}[],: \u{1}methodurlsé".utf8)
        for _ in 0..<2000 {
            var text = Array(call(&random).utf8)
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let place = Int.random(in: text.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: text.remove(at: place)
                case 1: text.insert(bytes.randomElement(using: &random) ?? 0, at: place)
                default: text[place] = bytes.randomElement(using: &random) ?? 0
                }
            }
            let damaged = String(decoding: text, as: UTF8.self)
            guard let found = urls(damaged) else { continue }
            #expect(found == decoded(damaged), "seed \(seed): \(damaged)")
        }
    }

    private func call(_ random: inout SeededGenerator) -> String {
        func space() -> String {
            String(
                (0..<Int.random(in: 0...2, using: &random)).map { _ in
                    " \t\r\n".randomElement(using: &random) ?? " "
                })
        }
        let urls = (0..<Int.random(in: 0...5, using: &random)).map { _ in
            let bytes = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                UInt8.random(in: 0x20...0x7E, using: &random)
            }
            let text = bytes.filter { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
            return "\"\(String(decoding: text, as: UTF8.self))\""
        }
        let list = urls.map { space() + $0 + space() }.joined(separator: ",")
        let members = [
            "\"method\"\(space()):\(space())\"io.cached.Cache.Status\"",
            "\"parameters\"\(space()):\(space()){\(space())\"urls\"\(space()):\(space())[\(list)]\(space())}",
        ].shuffled(using: &random)
        let body = members.map { space() + $0 + space() }.joined(separator: ",")
        return "\(space()){\(body)}\(space())"
    }

    private func urls(_ text: String) -> [String]? {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { message in
            guard let call = PlainCall(message), call.method == .status else { return nil }
            return call.texts(in: message).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    private func decoded(_ text: String) -> [String]? {
        do {
            let call = try Message.decode(
                Call<Methods.Status.Parameters>.self, from: text.utf8)
            guard call.method == MethodName.status.rawValue, call.oneway == nil, call.more == nil
            else { return nil }
            return call.parameters?.details == nil ? call.parameters?.urls : nil
        } catch {
            return nil
        }
    }
}

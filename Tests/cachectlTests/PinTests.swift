import CacheWire
import Foundation
import StubDaemon
import Testing

@Suite(.timeLimit(.minutes(5))) struct PinTests {
    private let pinned = #"{"url":"https://a/1","key":"k","state":"cached","pinned":true}"#
    private let unpinned = #"{"url":"https://a/1","key":"k","state":"cached","pinned":false}"#
    private let pinnedInFlight =
        #"{"url":"https://a/2","key":"k","state":"inFlight","pinned":true}"#
    private let unpinnedInFlight = #"{"url":"https://a/2","key":"k","state":"inFlight"}"#
    private let missing = #"{"url":"https://a/4","key":"k","state":"missing"}"#
    private let failed =
        #"{"url":"https://a/5","key":"k","state":"missing","#
        + #""failure":{"kind":"http","message":"the origin says 404","httpStatus":404}}"#
    private let invalid =
        #"{"url":"x y","key":"k","state":"missing","#
        + #""failure":{"kind":"invalidURL","message":"it contains a space"}}"#

    private func run(_ arguments: [String], items: [String]) throws -> Program.Outcome {
        let stub = try StubDaemon(replies: [
            #"{"parameters":{"items":[\#(items.joined(separator: ","))]}}"#
        ])
        return try Program.run(arguments + ["--socket", stub.path])
    }

    @Test func pinningAnImageInFlightSucceeds() throws {
        let outcome = try run(["pin", "u"], items: [pinned, pinnedInFlight])
        #expect(outcome.output == "pinned cached https://a/1\npinned in-flight https://a/2\n")
        #expect(outcome.errorOutput == "" && outcome.status == 0)
    }

    @Test func failedPinIsReportedAndExitsWith1() throws {
        let outcome = try run(
            ["pin", "u"], items: [missing, pinned, failed, unpinned, unpinnedInFlight])
        #expect(outcome.output == "pinned cached https://a/1\n")
        #expect(
            outcome.errorOutput == """
                cachectl: https://a/4: it is not cached: fetch it first
                cachectl: https://a/5: the origin says 404
                cachectl: https://a/1: it was not pinned
                cachectl: https://a/2: it was not pinned

                """)
        #expect(outcome.status == 1)
    }

    @Test func unpinningAnUnpinnedImageSucceeds() throws {
        let outcome = try run(
            ["unpin", "u"], items: [unpinned, unpinnedInFlight, missing, failed])
        #expect(
            outcome.lines == [
                "unpinned cached https://a/1", "unpinned in-flight https://a/2",
                "unpinned missing https://a/4", "unpinned missing https://a/5",
            ])
        #expect(outcome.errorOutput == "" && outcome.status == 0)
        let kept = try run(["unpin", "u"], items: [pinned, unpinned])
        #expect(kept.output == "unpinned cached https://a/1\n")
        #expect(
            kept.errorOutput == "cachectl: https://a/1: it is still pinned\n" && kept.status == 1)
    }

    @Test(arguments: ["pin", "unpin"])
    func invalidURLOutranksAFailure(command: String) throws {
        let outcome = try run([command, "u"], items: [invalid, missing])
        #expect(outcome.status == 65)
        #expect(outcome.errorOutput.hasPrefix("cachectl: x y: it contains a space\n"))
        #expect(!outcome.output.contains("x y"))
    }

    @Test func jsonIsOneItemALineForEveryOutcome() throws {
        let outcome = try run(["pin", "--json", "u"], items: [pinnedInFlight, missing, invalid])
        let items = try outcome.lines.map { line in
            try Message.decode(Item.self, from: line.utf8)
        }
        #expect(items.map(\.state) == [.inFlight, .missing, .missing])
        #expect(items.map(\.pinned) == [true, nil, nil])
        #expect(items[2].failure?.kind == Failure.invalidURL)
        #expect(outcome.errorOutput == "" && outcome.status == 65)
        #expect(try run(["pin", "--json", "u"], items: [missing]).status == 1)
        #expect(try run(["unpin", "--json", "u"], items: [unpinned]).status == 0)
    }

    @Test(arguments: [("pin", true), ("unpin", false)])
    func pinSendsTheURLsAndTheFlag(command: String, isPinned: Bool) throws {
        let items = repeatElement(isPinned ? pinned : unpinned, count: 3).joined(separator: ",")
        let stub = try StubDaemon(replies: [#"{"parameters":{"items":[\#(items)]}}"#])
        let arguments = [command, "https://a/1", "-", "https://a/3", "--socket", stub.path]
        #expect(try Program.run(arguments, input: "https://a/2\n\n").status == 0)
        let call = try Message.decode(
            Call<Methods.Pin.Parameters>.self, from: try #require(stub.calls.first).utf8)
        #expect(call.parameters?.urls == ["https://a/1", "https://a/2", "https://a/3"])
        #expect(call.parameters?.pinned == isPinned)
        #expect(stub.calls[0].contains("io.cached.Cache.Pin"))
    }

    @Test func manyURLsFromStandardInputAreSentInBatches() throws {
        let stub = try StubDaemon { text in
            let object = try? JSONSerialization.jsonObject(with: Data(text.utf8))
            let parameters = (object as? [String: Any])?["parameters"] as? [String: Any]
            let items = (parameters?["urls"] as? [String] ?? []).map { url in
                #"{"url":"\#(url)","key":"k","state":"cached","pinned":true}"#
            }
            return [#"{"parameters":{"items":[\#(items.joined(separator: ","))]}}"#]
        }
        let urls = (0..<20_000).map { "https://example.com/\($0)" }
        var bytes = Array(urls.joined(separator: "\n").utf8)
        bytes += [0x0A, 0xFF]
        let outcome = try Program.run(["pin", "-", "--socket", stub.path], bytes: bytes)
        #expect(outcome.lines == urls.map { "pinned cached \($0)" })
        #expect(
            outcome.errorOutput == "cachectl: \u{FFFD}: line 20001 of standard input is not UTF-8\n"
        )
        #expect(outcome.status == 65)
        #expect(stub.calls.count == 2)
    }

    @Test func emptyStandardInputSucceedsWithoutACall() throws {
        let stub = try StubDaemon(replies: [])
        let outcome = try Program.run(["pin", "-", "--socket", stub.path])
        #expect(outcome.status == 0 && outcome.output == "" && stub.calls.isEmpty)
    }

    @Test func listAndInfoShowPins() throws {
        let list = try run(["list"], items: [pinned, unpinned, missing])
        #expect(list.lines[0].hasSuffix("  PINNED  URL"))
        #expect(list.lines[1].hasSuffix("  yes     https://a/1"))
        #expect(list.lines[2].hasSuffix("  no      https://a/1"))
        #expect(list.lines[3].hasSuffix("  -       https://a/4"))
        #expect(try run(["info", "u"], items: [pinned]).lines.contains("pinned  yes"))
    }
}

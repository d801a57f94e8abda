import CacheWire
import Foundation
import StubDaemon
import Testing

@testable import cachectl

@Suite(.timeLimit(.minutes(5))) struct CommandTests {
    private let cached =
        #"{"url":"https://a/1","key":"k","state":"cached","path":"/c/1","#
        + #""size":22000,"mediaType":"image/png","width":4,"height":3}"#
    private let inFlight =
        #"{"url":"https://a/2","key":"k","state":"inFlight","phase":"receiving","#
        + #""received":420000,"total":1000000,"percent":42.0}"#
    private let withoutTotal = #"{"url":"https://a/3","key":"k","state":"inFlight","received":7}"#
    private let missing = #"{"url":"https://a/4","key":"k","state":"missing"}"#
    private let failed =
        #"{"url":"https://a/5","key":"k","state":"missing","#
        + #""failure":{"kind":"http","message":"the origin says 404","httpStatus":404}}"#
    private let invalid =
        #"{"url":"x y","key":"k","state":"missing","#
        + #""failure":{"kind":"invalidURL","message":"it contains a space"}}"#

    private func run(
        _ arguments: [String], items: [String], input: String = ""
    ) throws -> Program.Outcome {
        let stub = try StubDaemon(replies: [
            #"{"parameters":{"items":[\#(items.joined(separator: ","))]}}"#
        ])
        return try Program.run(arguments + ["--socket", stub.path], input: input)
    }

    @Test func statusPrintsALineForEachURLAndExitsWithTheWorst() throws {
        let one = try run(["status", "u"], items: [cached])
        #expect(one.output == "cached 22000 image/png /c/1\n")
        #expect(one.status == 0)
        let two = try run(["status", "u"], items: [cached, inFlight, withoutTotal])
        #expect(two.lines[1] == "in-flight 42.0% 420000/1000000 https://a/2")
        #expect(two.lines[2] == "in-flight - 7/- https://a/3")
        #expect(two.status == 2)
        let three = try run(["status", "u"], items: [inFlight, missing])
        #expect(three.lines[1] == "missing https://a/4")
        #expect(three.status == 1)
        #expect(three.errorOutput == "")
    }

    @Test func aPairOfKeysIsMadeOnce() throws {
        let path = FileManager.default.temporaryDirectory.path + "/key-\(UUID().uuidString)"
        defer { unlink(path) }
        let outcome = try Program.run(["store", "key", "web-1", path])
        #expect(outcome.status == 0)
        #expect(outcome.output.wholeMatch(of: /web-1:[0-9a-f]{64}\n/) != nil)
        let file = try String(contentsOfFile: path, encoding: .utf8)
        #expect(file.hasPrefix("web-1:") && file.hasSuffix(outcome.output.dropFirst(5)))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let again = try Program.run(["store", "key", "web-1", path])
        #expect(again.status == 74 && again.output.isEmpty)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == file)
        #expect(try Program.run(["store", "key", "a b", path + "x"]).status == 64)
        #expect(try Program.run(["store", "kez"]).status == 64)
    }

    @Test func impossibleRepliesAreHandled() throws {
        let few = try run(["status", "u", "v"], items: [cached])
        #expect(few.status == 70)
        #expect(few.errorOutput == "cachectl: the daemon's reply has 1 items for 2 URLs\n")
        let outOfRange = inFlight.replacing("42.0", with: "1e300")
        #expect(
            try run(["status", "u"], items: [outOfRange]).lines[0].hasPrefix("in-flight 100.0% "))
        let old = cached.replacing("}", with: ",\"lastUsedAt\":-9223372036854775808}")
        #expect(try run(["list"], items: [old]).status == 0)
    }

    @Test func statusReportsFailuresOnStandardError() throws {
        let outcome = try run(["status", "u"], items: [failed])
        #expect(outcome.output == "missing https://a/5\n")
        #expect(outcome.errorOutput == "cachectl: https://a/5: the origin says 404\n")
        #expect(outcome.status == 1)
        #expect(try run(["status", "u"], items: [failed, invalid]).status == 65)
    }

    @Test func fastPathAndArgumentParserGiveTheSameOutput() throws {
        let stub = try StubDaemon(replies: [#"{"parameters":{"items":[\#(failed)]}}"#])
        let environment = ["CACHED_SOCKET": stub.path]
        let plain = try Program.run(["status", "https://a/5"], environment: environment)
        let parsed = try Program.run(["status", "--", "https://a/5"], environment: environment)
        #expect(plain.output == parsed.output && plain.errorOutput == parsed.errorOutput)
        #expect(plain.status == parsed.status)
        // The members of a JSON object have no order, so decoded calls are compared, not texts.
        let calls = try stub.calls.map { text in
            try Message.decode(Call<Methods.Status.Parameters>.self, from: text.utf8)
        }
        #expect(calls.count == 2 && calls[0] == calls[1])
    }

    @Test func jsonIsOneItemALineAndAsksForDetails() throws {
        let stub = try StubDaemon(replies: [#"{"parameters":{"items":[\#(cached),\#(missing)]}}"#])
        let outcome = try Program.run(["status", "--json", "u", "--socket", stub.path])
        #expect(outcome.lines.count == 2)
        #expect(outcome.lines[0].contains(#""path":"/c/1""#))
        #expect(stub.calls[0].contains(#""details":true"#))
    }

    @Test func fetchPrintsPathsInOrderAndFailuresOnStandardError() throws {
        let outcome = try run(["fetch", "u"], items: [cached, failed, cached])
        #expect(outcome.output == "/c/1\n/c/1\n")
        #expect(outcome.errorOutput == "cachectl: https://a/5: the origin says 404\n")
        #expect(outcome.status == 1)
        #expect(try run(["fetch", "u"], items: [cached]).status == 0)
        #expect(try run(["fetch", "u"], items: [cached, invalid]).status == 65)
    }

    @Test func fetchSendsItsOptions() throws {
        let stub = try StubDaemon(replies: [#"{"parameters":{"items":[\#(inFlight)]}}"#])
        let outcome = try Program.run([
            "fetch", "--priority", "visible", "--refresh", "--no-wait", "https://a/2", "--socket",
            stub.path,
        ])
        #expect(outcome.status == 0 && outcome.output == "" && outcome.errorOutput == "")
        let call = stub.calls[0]
        for part in [
            #""priority":"visible""#, #""refresh":true"#, #""wait":false"#,
            #""urls":["https://a/2"]"#,
        ] {
            #expect(call.contains(part))
        }
    }

    @Test func patienceIsSentWithEachImageAndNeedsWaiting() throws {
        let stub = try StubDaemon(replies: [#"{"parameters":{"items":[\#(cached)]}}"#])
        let arguments = [
            "fetch", "--attempts", "2", "--timeout", "1.5", "https://a/2", "--socket", stub.path,
        ]
        #expect(try Program.run(arguments).status == 0)
        #expect(
            stub.calls[0].contains(
                #""wants":[{"url":"https://a/2","attempts":2,"timeout":1500}]"#))
        #expect(try Program.run(arguments + ["--no-wait"]).status == 64)
        #expect(try Program.run(["fetch", "--attempts", "0", "u"]).status == 64)
    }

    /// The digest is compared when the download ends, so the command must wait for that.
    @Test func digestIsSentAndNeedsWaiting() throws {
        let digest = String(repeating: "aB", count: 32)
        let stub = try StubDaemon(replies: [#"{"parameters":{"items":[\#(cached)]}}"#])
        let arguments = ["fetch", "--sha256", digest, "https://a/2", "--socket", stub.path]
        #expect(try Program.run(arguments).status == 0)
        #expect(stub.calls[0].contains(#""sha256":"\#(digest)""#))
        #expect(try Program.run(arguments + ["--no-wait"]).status == 64)
    }

    @Test func hundredThousandURLsAreRequestedInOrder() throws {
        let stub = try StubDaemon { call in
            let object = try? JSONSerialization.jsonObject(with: Data(call.utf8))
            let parameters = (object as? [String: Any])?["parameters"] as? [String: Any]
            let urls = parameters?["urls"] as? [String] ?? []
            let items = urls.map { #"{"url":"\#($0)","key":"k","state":"missing"}"# }
            return [#"{"parameters":{"items":[\#(items.joined(separator: ","))]}}"#]
        }
        let urls = (0..<100_000).map { "https://example.com/\($0)" }
        let outcome = try Program.run(
            ["status", "-", "--socket", stub.path], input: urls.joined(separator: "\n"))
        #expect(outcome.lines == urls.map { "missing \($0)" })
        #expect(stub.calls.count > 1)
        #expect(stub.calls.allSatisfy { $0.utf8.count < 16 << 20 })
    }

    @Test func infoPrintsEveryField() throws {
        let outcome = try run(["info", "u"], items: [cached])
        #expect(outcome.lines.contains("mediaType  image/png"))
        #expect(outcome.lines.count == 8)
        #expect(outcome.status == 0)
    }

    @Test func listPagesUntilTheEndOrTheLimit() throws {
        let stub = try StubDaemon { [cached] call in
            let after = call.contains(#""after""#) ? "" : #","after":"x""#
            return [#"{"parameters":{"items":[\#(cached),\#(cached)]\#(after)}}"#]
        }
        let all = try Program.run(["list", "--order", "size", "--socket", stub.path])
        #expect(all.lines.count == 5)
        #expect(all.lines[0] == " SIZE  TYPE       DIMENSIONS  LAST USED  PINNED  URL")
        #expect(all.lines[4] == "22 kB  image/png         4x3          -  -       https://a/1")
        #expect(stub.calls.count == 2)
        let some = try Program.run(["list", "--json", "--limit", "2", "--socket", stub.path])
        #expect(some.lines.count == 2)
        #expect(stub.calls.count == 3)
        #expect(stub.calls[2].contains(#""limit":2"#))
    }

    @Test func listSendsItsFilters() throws {
        let stub = try StubDaemon { [cached] call in
            // With a filter, a page can be empty and not be the last.
            let after = call.contains(#""after":"y""#) ? "" : #","after":"y""#
            let items = call.contains(#""after""#) ? cached : ""
            return [#"{"parameters":{"items":[\#(items)]\#(after)}}"#]
        }
        let outcome = try Program.run([
            "ls", "--host", "a", "--prefix", "https://a/", "--state", "stale", "--json", "--socket",
            stub.path,
        ])
        #expect(outcome.status == 0 && outcome.lines.count == 1)
        for part in [#""host":"a""#, #""prefix":"https://a/""#, #""state":"stale""#] {
            #expect(stub.calls.count == 2 && stub.calls.allSatisfy { $0.contains(part) })
        }
        #expect(try Program.run(["list", "--state", "lost"]).status == 64)
    }

    @Test func listOfDownloadsShowsTheirProgress() throws {
        let stub = try StubDaemon(replies: [
            #"{"parameters":{"items":[\#(inFlight),\#(withoutTotal)]}}"#
        ])
        let outcome = try Program.run(["list", "--state", "in-flight", "--socket", stub.path])
        #expect(outcome.lines[0].contains("PROGRESS"))
        #expect(outcome.lines[1].contains("1.0 MB") && outcome.lines[1].contains("42.0%"))
        #expect(stub.calls[0].contains(#""state":"inFlight""#))
    }

    @Test func aliasesAndTheSocketBeforeTheCommand() throws {
        let reply = #"{"parameters":{"entries":1,"bytes":2,"stats":{"entriesPinned":0}}}"#
        let stub = try StubDaemon(replies: [reply])
        let outcome = try Program.run(["--socket", stub.path, "rm", "--all"])
        #expect(outcome.output == "removed 1 entry, 2 bytes\n")
        let list = try StubDaemon(replies: [#"{"parameters":{"items":[\#(cached)]}}"#])
        #expect(try Program.run(["--socket=\(list.path)", "ls"]).lines.count == 2)
        #expect(try Program.run(["--socket", list.path, "status", "u"]).status == 0)
    }

    @Test func infoExitsLikeStatus() throws {
        #expect(try run(["info", "u"], items: [cached]).status == 0)
        #expect(try run(["info", "u"], items: [cached, inFlight]).status == 2)
        #expect(try run(["info", "u"], items: [inFlight, missing]).status == 1)
        #expect(try run(["info", "u"], items: [missing, invalid]).status == 65)
    }

    @Test func catWritesTheBytesOfEachImage() throws {
        let folder = try TemporaryFolder()
        let bytes = "\u{1B}[31m\u{0}é"
        let key = "c01a4429-4703-5b6a-8726-7982c1849d2a"
        let path = try folder.file(key, bytes)
        let item = #"{"url":"https://a/1","key":"\#(key)","state":"cached","path":"\#(path)"}"#
        #expect(try run(["cat", "u", "v"], items: [item, item]).output == bytes + bytes)
        let partly = try run(["cat", "u", "v"], items: [failed, item])
        #expect(partly.output == bytes && partly.status == 1)
        #expect(partly.errorOutput == "cachectl: https://a/5: the origin says 404\n")
        let gone = item.replacing(path, with: "/nonexistent/\(key)")
        #expect(try run(["cat", "u"], items: [gone]).status == 74)
        #expect(try run(["show", "u"], items: [item]).output == bytes)
    }

    /// A path is data for programs, and a type comes from outside.
    @Test func pipesGetPathsUnchangedAndNothingElseRaw() throws {
        let hostile =
            #"{"url":"https://a/\u202e","key":"\u001b","state":"cached","path":"/c/\u00adé","#
            + #""size":1,"mediaType":"image/\u001b[31m"}"#
        let status = try run(["status", "u"], items: [hostile])
        #expect(status.output == "cached 1 image/\\u{1B}[31m /c/\u{AD}é\n")
        #expect(try run(["fetch", "u"], items: [hostile]).output == "/c/\u{AD}é\n")
        let json = try run(["status", "--json", "u"], items: [hostile])
        #expect(json.output.contains(#""url":"https://a/\u202e""#))
        #expect(json.output.contains(#""path":"/c/\u00adé""#))
        let item = try JSONDecoder().decode(Item.self, from: Data(json.output.utf8))
        #expect(item.url == "https://a/\u{202E}" && item.path == "/c/\u{AD}é")
        for command in [["info"], ["list"], ["pin"], ["unpin"]] {
            let arguments = command == ["list"] ? command : command + ["u"]
            let outcome = try run(arguments, items: [hostile])
            let text = outcome.output + outcome.errorOutput
            #expect(!text.unicodeScalars.contains { $0.commandsTerminal && $0 != "\n" })
        }
    }

    @Test func nonUTF8LineIsAnInvalidURLAndOthersSucceed() throws {
        let bytes = Array("https://a/1\n".utf8) + [0xE9, 0x0A] + Array("https://a/4\n".utf8)
        let message = "cachectl: \u{FFFD}: line 2 of standard input is not UTF-8\n"
        let items = [cached, missing].joined(separator: ",")
        let stub = try StubDaemon(replies: [#"{"parameters":{"items":[\#(items)]}}"#])
        let by = { try Program.run($0 + ["-", "--socket", stub.path], bytes: bytes) }
        let status = try by(["status"])
        #expect(
            status.lines == [
                "cached 22000 image/png /c/1", "missing \u{FFFD}", "missing https://a/4",
            ])
        #expect(status.errorOutput == message && status.status == 65)
        let json = try by(["status", "--json"])
        #expect(json.lines.count == 3 && json.lines[1].contains(#""kind":"invalidURL""#))
        #expect(json.status == 65)
        let fetch = try by(["fetch"])
        #expect(fetch.output == "/c/1\n" && fetch.status == 65)
        #expect(fetch.errorOutput == message + "cachectl: https://a/4: it was not downloaded\n")
        #expect(stub.calls.allSatisfy { $0.contains(#"["https://a/1","https://a/4"]"#) })
        let name = try Program.run(["name", "-"], bytes: bytes)
        #expect(name.lines.count == 2 && name.errorOutput == message && name.status == 65)
    }

    @Test func removeContinuesAfterANonUTF8Line() throws {
        let stub = try StubDaemon(replies: [#"{"parameters":{"entries":1,"bytes":22000}}"#])
        let bytes = [0xE9, 0x0A] + Array("https://a/1\n".utf8)
        let outcome = try Program.run(["remove", "-", "--socket", stub.path], bytes: bytes)
        #expect(outcome.status == 65 && outcome.output == "removed 1 entry, 22000 bytes\n")
        #expect(
            outcome.errorOutput == "cachectl: \u{FFFD}: line 1 of standard input is not UTF-8\n")
        #expect(stub.calls[0].contains(#""urls":["https://a/1"]"#))
    }

    @Test func removeReportsEntriesAndBytes() throws {
        let reply = #"{"parameters":{"entries":1,"bytes":22000,"stats":{"entriesPinned":2}}}"#
        let stub = try StubDaemon(replies: [reply])
        let by = { (arguments: [String]) in
            try Program.run(["remove"] + arguments + ["--socket", stub.path])
        }
        let all = try by(["--all"])
        #expect(all.output == "removed 1 entry, 22000 bytes\n")
        #expect(
            all.errorOutput == "cachectl: 2 pinned images stayed; see list --state pinned\n")
        #expect(try by(["--prefix", "https://a/"]).status == 0)
        let mixed = try by(["https://a/1", "x"])
        #expect(mixed.status == 65 && mixed.output == "removed 1 entry, 22000 bytes\n")
        #expect(
            mixed.errorOutput
                == "cachectl: x: not a URL that can be cached: it is not absolute: it must start with "
                + "http:// or https://\n")
        #expect(stub.calls.last?.contains(#""urls":["https://a/1"]"#) == true)
        #expect(try by([]).status == 64)
        #expect(try by(["--all", "https://a/1"]).status == 64)
    }

    @Test func nameNeedsNoDaemon() throws {
        let name = "c01a4429-4703-5b6a-8726-7982c1849d2a"
        let url = "https://example.com/a.png"
        #expect(try Program.run(["name", url]).output == name + "\n")
        let home = ["HOME": "/home/me"]
        #expect(
            try Program.run(["name", "--path", url], environment: home).output
                == "/home/me/.cache/cached/\(name)\n")
        #expect(
            try Program.run(["name", "--path", "--directory", "/d", "-"], input: url).output
                == "/d/\(name)\n")
        let mixed = try Program.run(["name", "x", url])
        #expect(mixed.status == 65 && mixed.output == name + "\n")
        // Without HOME, the user database has the home directory.
        let homeless = try Program.run(["name", "--path", url])
        #expect(homeless.status == 0 && homeless.output.hasSuffix("/.cache/cached/\(name)\n"))
    }

    @Test func watchWithoutAnyURLEndsAtOnce() throws {
        let stub = try StubDaemon(replies: [])
        let outcome = try Program.run(["watch", "-", "--socket", stub.path], input: "")
        #expect(outcome.status == 0 && outcome.output == "" && stub.calls.isEmpty)
        let refused = try Program.run(["watch", "-", "--socket", stub.path], bytes: [0xE9, 0x0A])
        #expect(refused.status == 65 && stub.calls.isEmpty)
    }
}

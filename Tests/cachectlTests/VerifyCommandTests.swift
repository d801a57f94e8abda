import CacheWire
import Foundation
import StubDaemon
import Testing

@testable import cachectl

@Suite(.timeLimit(.minutes(5))) struct VerifyCommandTests {
    private func daemon(_ reply: String) throws -> StubDaemon {
        try StubDaemon { _ in [#"{"parameters":\#(reply)}"#] }
    }

    /// An item of the reply. `more` begins with a comma.
    private func item(_ url: String, _ state: String, _ more: String = "") -> String {
        #"{"url":"\#(url)","key":"d88b2d2e-c31c-51fb-ad1c-6990aae1d6a2","state":"\#(state)"\#(more)}"#
    }

    private let failure = #","failure":{"kind":"damaged","message":"the file is empty"}"#

    @Test func undamagedCacheExitsWith0() throws {
        let stub = try daemon(
            #"{"checked":3,"damaged":[],"total":3,"damagedCount":0,"leftCount":0}"#)
        let outcome = try Program.run(["verify", "--socket", stub.path])
        #expect(outcome.output == "checked 3 entries, 0 damaged\n")
        #expect(outcome.errorOutput == "" && outcome.status == 0)
        #expect(stub.calls.count == 1 && !stub.calls[0].contains("repair"))
    }

    @Test func unrepairedDamageIsPrintedAndExitsWith1() throws {
        let stub = try daemon(
            """
            {"checked":1,"damaged":[\(item("http://a/b", "missing", failure))],"total":2,\
            "damagedCount":1,"leftCount":1}
            """)
        let outcome = try Program.run(["verify", "--socket", stub.path])
        #expect(
            outcome.output == """
                damaged http://a/b: the file is empty
                checked 1 of 2 entries, 1 damaged

                """)
        #expect(outcome.status == 1)
        let json = try Program.run(["verify", "--json", "--socket", stub.path])
        #expect(json.output.contains(#""url":"http://a/b""#) || json.output.contains(#"\/\/a"#))
        let lines = json.output.split(separator: "\n")
        #expect(lines.count == 2)
        let sum = try JSONDecoder().decode([String: Int].self, from: Data(lines[1].utf8))
        #expect(sum == ["checked": 1, "total": 2, "damaged": 1, "left": 1])
        #expect(json.status == 1)
    }

    @Test func repairsAreReported() throws {
        let items = [item("http://a/b", "cached"), item("", "missing")].joined(separator: ",")
        let stub = try daemon(
            """
            {"checked":2,"damaged":[\(items)],"total":2,"damagedCount":2,"leftCount":0}
            """)
        let outcome = try Program.run(["verify", "--repair", "--socket", stub.path])
        #expect(
            outcome.output == """
                refetched http://a/b
                removed d88b2d2e-c31c-51fb-ad1c-6990aae1d6a2
                checked 2 entries, 2 damaged, 2 repaired

                """)
        #expect(outcome.status == 0)
        #expect(stub.calls[0].contains(#""repair":true"#))
    }

    @Test func unreadableCacheIsReportedAndExitsWith1() throws {
        let stub = try daemon(
            """
            {"checked":0,"damaged":[],"total":0,"failure":{"kind":"storage","message":"it is gone"}}
            """)
        let outcome = try Program.run(["verify", "--socket", stub.path])
        #expect(outcome.errorOutput == "cachectl: it is gone\n")
        #expect(outcome.status == 1)
    }

    @Test func terminalShowsTheProgress() {
        let terminal = TerminalCapabilities(isUnicode: false, colors: .none)
        let reply = Methods.Verify.Reply(checked: 1, damaged: [], total: 4, damagedCount: 2)
        let line = VerifySession.line(reply, terminal, columns: 60).text
        #expect(line.contains("1/4 ###------------  2 damaged"))
        let none = Methods.Verify.Reply(checked: 0, damaged: [])
        #expect(VerifySession.line(none, terminal, columns: 20).columns <= 20)
    }
}

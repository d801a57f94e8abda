import CacheWire
import Foundation
import StubDaemon
import Testing

@testable import cachectl

/// Commands on a real terminal.
@Suite(
    .timeLimit(.minutes(5)), .enabled(if: Pseudoterminal.isAvailable, "python3 is not installed"))
struct TerminalTests {
    private let receiving =
        #"{"parameters":{"items":[{"url":"https://a/1","key":"k","state":"inFlight","#
        + #""phase":"receiving","received":42,"total":100}]},"continues":true}"#
    private let cached =
        #"{"parameters":{"items":[{"url":"https://a/1","key":"k","state":"cached","#
        + #""path":"/c/1","mediaType":"image/png","width":9,"height":9}]}}"#

    @Test func displayIsDrawnAndErased() throws {
        let stub = try StubDaemon(replies: [receiving, cached])
        let outcome = try Pseudoterminal.run(["fetch", "https://a/1", "--socket", stub.path])
        #expect(outcome.status == 0)
        #expect(outcome.output == "/c/1\n")
        #expect(outcome.drawn.contains("42 %") && outcome.drawn.contains("a/1"))
        #expect(outcome.drawn.hasSuffix("\r\u{1B}[J"))
    }

    @Test func controlCErasesTheDisplayAndEndsWith130() throws {
        let stub = try StubDaemon(replies: [receiving])
        let outcome = try Pseudoterminal.run(
            ["fetch", "https://a/1", "--socket", stub.path], interruptedAt: "42 %")
        #expect(outcome.status == 130)
        #expect(outcome.output == "")
        let end = "\u{1B}[1A\r\u{1B}[J" + "cachectl: interrupted: 0 of 1 image is cached; "
        #expect(outcome.drawn.hasSuffix(end + "1 download continues for other callers\n"))
    }

    @Test func secondControlCEndsAtOnce() throws {
        // The daemon never replies to the question after the first one.
        let stub = try StubDaemon { [receiving] call in
            call.contains("Fetch") ? [receiving] : []
        }
        let outcome = try Pseudoterminal.run(
            ["fetch", "https://a/1", "--socket", stub.path], interruptedAt: "\u{1B}[J",
            by: [SIGINT, SIGINT, SIGINT])
        #expect(outcome.status == 130)
        #expect(!outcome.drawn.contains("interrupted"))
    }

    @Test func nothingReachesATerminalRaw() throws {
        let hostile =
            #"{"parameters":{"items":[{"url":"https://a/\u202e","key":"k","state":"cached","#
            + #""path":"/c/\u001b[31m","size":1,"mediaType":"x\u009b"}]}}"#
        let stub = try StubDaemon(replies: [hostile])
        for command in [["fetch", "u"], ["status", "u"], ["list"], ["info", "u"], ["pin", "u"]] {
            let outcome = try Pseudoterminal.run(
                command + ["--socket", stub.path], onTerminal: [1])
            #expect(
                !outcome.drawn.unicodeScalars.contains { $0.commandsTerminal && $0 != "\n" },
                "\(command): \(outcome.drawn.printable)")
        }
    }

    @Test func tablesFitTheTerminal() throws {
        let url = "https://example.com/" + String(repeating: "directory/", count: 20) + "a.png"
        let stub = try StubDaemon(replies: [
            #"{"parameters":{"items":[{"url":"\#(url)","key":"k","state":"cached","size":7}]}}"#
        ])
        let outcome = try Pseudoterminal.run(["list", "--socket", stub.path], onTerminal: [1])
        let lines = outcome.drawn.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[1].count == 100 && lines[1].hasSuffix("/a.png") && lines[1].contains("…"))
        #expect(try Program.run(["list", "--socket", stub.path]).output.contains(url))
    }

    @Test func bytesOfAnImageAreNotWrittenToATerminal() throws {
        let stub = try StubDaemon(replies: [cached])
        let outcome = try Pseudoterminal.run(
            ["cat", "https://a/1", "--socket", stub.path], onTerminal: [1])
        #expect(outcome.status == 64 && stub.calls.isEmpty)
        #expect(outcome.drawn.contains("cachectl show"))
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGQUIT])
    func fatalSignalsEraseTheDisplay(signal: Int32) throws {
        let stub = try StubDaemon(replies: [receiving])
        let outcome = try Pseudoterminal.run(
            ["fetch", "https://a/1", "--socket", stub.path], interruptedAt: "42 %", by: [signal])
        #expect(outcome.status == -signal)
        #expect(outcome.drawn.hasSuffix("\u{1B}[1A\r\u{1B}[J"))
    }

    @Test func stoppingErasesTheDisplayAndContinuingDrawsIt() throws {
        let stub = try StubDaemon(replies: [receiving])
        let outcome = try Pseudoterminal.run(
            ["fetch", "https://a/1", "--socket", stub.path], interruptedAt: "42 %",
            by: [SIGTSTP, SIGTSTP, SIGTERM])
        #expect(outcome.status == -SIGTERM)
        let erased = outcome.drawn.components(separatedBy: "\u{1B}[1A\r\u{1B}[J")
        #expect(erased.count == 4 && erased.dropLast().allSatisfy { $0.contains("42 %") })
    }

    @Test func capableTerminalDrawsThePicture() throws {
        let stub = try StubDaemon(replies: [cached])
        let outcome = try Pseudoterminal.run(
            ["show", "https://a/1", "--socket", stub.path], onTerminal: [0, 1, 2],
            answer: "\u{1B}_Gi=31;OK\u{1B}\\\u{1B}_Gi=32;OK\u{1B}\\\u{1B}[?62;c")
        #expect(outcome.status == 0)
        #expect(outcome.drawn.hasSuffix("\u{1B}_Ga=T,f=100,t=f,q=2;L2MvMQ==\u{1B}\\\n"))
        #expect(outcome.isRestored)
    }

    @Test func silentTerminalGetsADescription() throws {
        let stub = try StubDaemon(replies: [cached])
        let outcome = try Pseudoterminal.run(
            ["show", "https://a/1", "--socket", stub.path], onTerminal: [0, 1, 2],
            environment: ["PATH": "/nonexistent"])
        #expect(outcome.status == 0)
        #expect(outcome.drawn.contains("path       /c/1\n"))
        #expect(outcome.isRestored)
    }

    @Test func interruptionDuringTheProbeRestoresTheTerminal() throws {
        let stub = try StubDaemon(replies: [cached])
        let outcome = try Pseudoterminal.run(
            ["show", "https://a/1", "--socket", stub.path], onTerminal: [0, 1, 2],
            environment: ["PATH": "/nonexistent"], interruptedAt: "\u{1B}[c")
        #expect(outcome.status == 130)
        #expect(outcome.isRestored)
    }

    @Test func urlToShowCanComeFromStandardInput() throws {
        let folder = try TemporaryFolder()
        // The file of an image has the name of its key.
        let key = "64ae7d25-968a-53ee-bd6c-4b6d330d180a"
        let path = try folder.file(key, "bytes")
        let reply = cached.replacing(#""k""#, with: "\"\(key)\"").replacing("/c/1", with: path)
        let stub = try StubDaemon(replies: [reply])
        let outcome = try Program.run(
            ["show", "-", "--socket", stub.path], input: "https://a/1\n")
        #expect(outcome.status == 0 && outcome.output == "bytes")
        #expect(try #require(stub.calls.first).contains("a/1"))
    }

    @Test func topWithoutATerminalIsWrongUsage() throws {
        let stub = try StubDaemon(replies: [cached])
        let outcome = try Program.run(["top", "--socket", stub.path])
        #expect(outcome.status == 64)
        #expect(outcome.errorOutput.contains("top needs a terminal"))
    }
}

import CacheWire
import TestSupport
import Testing

/// `Watch` with `pressure`: applications hear when memory is short, and when it is no longer.
@Suite("Watching memory pressure", .timeLimit(.minutes(5)))
struct PressureWatchTests {
    private let watch = call("Watch", parameters: #""pressure":true"#, flags: [#""more":true"#])

    @Test func everyLevelIsToldAndItsEnd() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            let first = try await stream.ask(watch)
            #expect(first.parameters?.pressure == .normal && first.continues == true)
            _ = try await daemon.ask(call("Pressure", parameters: #""level":"warning""#))
            #expect(try await stream.nextLevel() == .warning)
            // It falls, or rises before that, depending on how fast the next call is.
            _ = try await daemon.ask(call("Pressure", parameters: #""level":"critical""#))
            var levels = [try await stream.nextLevel()]
            while levels.last != .critical { levels.append(try await stream.nextLevel()) }
            let stats = try await daemon.ask(call("Stats")).parameters?.stats
            #expect(["critical", "normal"].contains(stats?["pressureLevel"]?.description))
            while levels.last != .normal { levels.append(try await stream.nextLevel()) }
            #expect(levels.filter { $0 == .critical }.count == 1)
        }
    }

    @Test func theLevelNowIsToldOnSubscribingAndBesideChanges() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            _ = try await daemon.ask(call("Pressure", parameters: #""level":"critical""#))
            let stream = try daemon.connect()
            try await stream.send(
                call(
                    "Watch", [url], parameters: #""pressure":true"#, flags: [#""more":true"#])
                    + "\0")
            #expect(try await stream.nextLevel() == .critical)
            _ = try await daemon.fetch(url)
            #expect(try await stream.nextItem { $0.state == .cached }.url == url)
            // A stream that did not ask for it hears nothing.
            let other = try daemon.connect()
            let reply = try await other.ask(call("Watch", [url], flags: [#""more":true"#]))
            #expect(reply.parameters?.pressure == nil && reply.items.count == 1)
        }
    }
}

extension VarlinkConnection {
    fileprivate func nextLevel() async throws -> MemoryPressure {
        while true {
            if let level = try await nextReply().parameters?.pressure { return level }
        }
    }
}

import CacheWire
import Foundation
import TestSupport
import Testing

/// Callers of one URL share a download, which runs as long as it has a waiter.
@Suite("Sharing", .serialized, .timeLimit(.minutes(5)))
struct SharingTests {
    /// The number of connections for which this process and the daemon have descriptors, at most 10,000.
    private static func crowdSize() throws -> Int {
        let limit = try DescriptorLimit.raised()
        let size = min(10_000, limit - 1000)
        if size < 10_000 {
            FileHandle.standardError.write(
                Data("only \(size) of 10000 connections: a process has \(limit) files\n".utf8))
        }
        return size
    }

    @Test func tenThousandConnectionsAskingForOneURLCauseOneGET() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 50_000)
            let gate = try Gate()
            origin.route("/a.png", .gated(image, after: 1000, gate))
            let url = origin.url("/a.png")
            let size = try Self.crowdSize()
            let daemon = try await DaemonFixture.start(in: scope)
            let group = try await ConnectionGroup(of: size, at: daemon.socket, in: scope)
            try await group.sendAll(call("Fetch", [url]) + "\0")
            try await waitUntil("all callers to have joined") {
                try await daemon.metric("joined") == size - 1
            }
            gate.open()
            let answers = try await group.receiveAll()
            #expect(answers.count == size)
            let path = try daemon.path(url)
            let distinct = try Set(answers).map { try AnyReply($0) }
            #expect(distinct.allSatisfy { $0.error == nil && $0.items.first?.path == path })
            #expect(try contents(of: path) == image)
            #expect(origin.requests("/a.png").count == 1)
            #expect(origin.connectionsAccepted == 1)
        }
    }

    @Test func aDepartingCallerDoesNotDisturbOthers() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 9000), after: 100, gate))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let leaving = try daemon.connect()
            try await leaving.send(call("Fetch", [url]) + "\0")
            try await gate.reached()
            let staying = try daemon.connect()
            try await staying.send(call("Fetch", [url]) + "\0")
            try await waitUntil("the second caller to have joined") {
                try await daemon.metric("joined") == 1
            }
            leaving.shutdown()
            // The daemon has noticed the departure once it closes its side too.
            try await leaving.waitForClose()
            #expect(try await daemon.status(url).state == .inFlight)
            gate.open()
            #expect(try await staying.nextReply().items.first?.state == .cached)
            #expect(origin.requests("/a.png").map(\.outcome) == [.answered])
        }
    }

    @Test func aDownloadStopsWhenItsLastWaiterLeaves() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 90_000), after: 4000, gate))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let callers = [try daemon.connect(), try daemon.connect()]
            try await callers[0].send(call("Fetch", [url], flags: [#""more":true"#]) + "\0")
            _ = try await callers[0].nextItem { $0.received == 4000 }
            try await callers[1].send(call("Fetch", [url]) + "\0")
            try await waitUntil("the second caller to have joined") {
                try await daemon.metric("joined") == 1
            }
            for caller in callers { caller.shutdown() }
            try await origin.waitForOutcome(.abandoned, of: "/a.png")
            let item = try await daemon.status(url)
            #expect(item.state == .missing)
            #expect(item.failure == nil)
            #expect(size(at: try daemon.path(url) + ".part") == 4000)
            #expect(try await daemon.metric("transfersRunning") == 0)
        }
    }

    @Test func interruptingCachectlStopsItsDownload() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 90_000), after: 4000, gate))
            let daemon = try await DaemonFixture.start(in: scope)
            let fetch = try daemon.startCachectl("fetch", origin.url("/a.png"))
            try await gate.reached()
            fetch.signal(SIGINT)
            #expect(try await fetch.waitForExit() == .exited(130))
            try await origin.waitForOutcome(.abandoned, of: "/a.png")
        }
    }

    @Test func aDetachedDownloadContinuesWithoutWaiters() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 9000)
            origin.route("/a.png", .gated(image, after: 4000, gate))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let caller = try daemon.connect()
            let answer = try await caller.ask(
                call("Fetch", [url], parameters: #""wait":false"#))
            #expect(answer.items.map(\.state) == [.inFlight])
            #expect(answer.continues == nil)
            caller.shutdown()
            try await caller.waitForClose()
            try await gate.reached()
            #expect(try await daemon.status(url).state == .inFlight)
            gate.open()
            try await daemon.waitForState(.cached, of: url)
            #expect(try contents(of: daemon.path(url)) == image)
            #expect(origin.requests("/a.png").map(\.outcome) == [.answered])
        }
    }

    @Test func aCachedImageIsNotRequestedAgain() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            for _ in 0..<3 { #expect(try await daemon.fetch(url).state == .cached) }
            let twice = try await daemon.ask(call("Fetch", [url, url]))
            #expect(twice.items.map(\.state) == [.cached, .cached])
            #expect(origin.requests("/a.png").count == 1)
        }
    }
}

import CacheKey
import CacheWire
import Foundation
import TestSupport
import Testing

/// Very many watchers, watchers that do not read, sets that are replaced while everything moves.
@Suite("Watch under load", .serialized, .timeLimit(.minutes(isLongForm ? 20 : 10)))
struct WatchLoadTests {
    private let more = [#""more":true"#]

    // MARK: Very many

    @Test func aChangeIsEncodedOnceHoweverManyWatch() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 100_000)
            let parts = stride(from: 0, to: image.count, by: 10_000).map {
                Array(image[$0..<min($0 + 10_000, image.count)])
            }
            let gates = try parts.map { _ in try Gate() }
            var script: OriginScript = [.head(200, ["Content-Length": "\(image.count)"])]
            for (part, gate) in zip(parts, gates) { script.steps += [.wait(gate), .bytes(part)] }
            origin.route("/a.png", script)
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let crowds = [
                try await ConnectionGroup(of: 100, at: daemon.socket, in: scope),
                try await ConnectionGroup(of: 100, at: daemon.socket, in: scope),
            ]
            try await crowds[0].sendAll(call("Watch", [url], flags: more) + "\0")
            try await crowds[1].sendAll(call("Watch", flags: more) + "\0")
            for crowd in crowds { _ = try await crowd.receiveAll() }
            #expect(try await daemon.metric("watchers") == 200)
            let before = try await daemon.metric("changesEncoded")
            let fetch = try daemon.connect()
            try await fetch.send(call("Fetch", [url]) + "\0")
            var heard = Array(repeating: 0, count: 200)
            var received = 0
            for (part, gate) in zip(parts, gates) {
                received += part.count
                gate.open()
                // The next part comes when all know of this one.
                let told =
                    received < image.count ? "\"received\":\(received)" : #""state":"cached""#
                let counters =
                    try await crowds[0].countMessages(until: told)
                    + crowds[1].countMessages(until: told)
                heard = zip(heard, counters).map(+)
            }
            let most = try #require(heard.max())
            let encoded = try await daemon.metric("changesEncoded") - before
            #expect(heard.allSatisfy { $0 >= parts.count }, "\(heard)")
            #expect(encoded < 2 * most, "\(encoded) encoded, \(heard.reduce(0, +)) heard")
        }
    }

    /// 1,000 watchers while a download is under way: the share of a core that it costs the daemon.
    @Test(
        .disabled(if: isSanitized, "the processor's time, of which a sanitizer takes most"),
        arguments: [false, true])
    func aThousandWatchersUseLittleProcessorTime(everything: Bool) async throws {
        guard try DescriptorLimit.raised() > 3000 else { return }
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 300_000)
            let seconds = isLongForm ? 30 : 4
            let script = OriginScript.trickled(image, bytesPerSecond: image.count / seconds)
            origin.route("/a.png", script)
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let crowd = try await ConnectionGroup(of: 1000, at: daemon.socket, in: scope)
            try await crowd.sendAll(call("Watch", everything ? nil : [url], flags: more) + "\0")
            _ = try await crowd.receiveAll()
            let start = ContinuousClock.now
            let before = try ProcessUsage(of: daemon.process.pid).processorTime
            let fetch = try daemon.connect()
            try await fetch.send(call("Fetch", [url]) + "\0")
            let heard = try await crowd.countMessages(until: #""state":"cached""#)
            let used = try ProcessUsage(of: daemon.process.pid).processorTime - before
            let share = used / (ContinuousClock.now - start)
            let percent = (share * 1000).rounded() / 10
            print(
                "1,000 watchers of \(everything ? "everything" : "a download"): \(percent) % of a core"
            )
            // Step by step is the matter of the test above: a busy machine leaves some out.
            #expect(heard.max() ?? 0 > (isLongForm ? 10 : 4))
            // Without optimisation; the released program takes a fraction of it.
            #expect(share < 0.8)
        }
    }

    @Test(.disabled(if: isSanitized, "the processor's time, of which a sanitizer takes most"))
    func watchersLeavingTogetherUseLittleProcessorTime() async throws {
        let count = 4000
        guard try DescriptorLimit.raised() > count + 1000 else { return }
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let used = try await withTestScope { inner in
                let crowd = try await ConnectionGroup(of: count, at: daemon.socket, in: inner)
                try await crowd.sendAll(call("Watch", flags: more) + "\0")
                _ = try await crowd.receiveAll()
                return try ProcessUsage(of: daemon.process.pid).processorTime
            }
            try await waitUntil("all to have left") { try await daemon.metric("watchers") == 0 }
            let leaving = try ProcessUsage(of: daemon.process.pid).processorTime - used
            print("\(count) watchers of everything leave: \(leaving) of processor time")
            #expect(leaving < .seconds(1))
        }
    }

    // MARK: Those who do not read

    @Test(.disabled(if: isSanitized, "the memory of the daemon, of which a sanitizer takes most"))
    func aWatcherThatStopsReadingCatchesUpAndCostsNoMemory() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let urls = (0..<250).map { origin.url("/a.png?\($0)") }
            let daemon = try await DaemonFixture.start(in: scope)
            try #require(
                try await daemon.ask(call("Fetch", urls)).items.allSatisfy { $0.state == .cached })
            var stalled: [Watcher] = []
            for number in 0..<20 {
                let watcher = try Watcher(daemon)
                try await watcher.watch(number.isMultiple(of: 2) ? urls : nil)
                stalled.append(watcher)
            }
            let reading = try Watcher(daemon)
            try await reading.watch()
            try await reading.take { $0.items.count == urls.count }
            let before = try daemon.process.residentBytes()
            let asking = try daemon.connect()
            let rounds = 30
            for round in 1...rounds {
                let isPinned = round.isMultiple(of: 2)
                let pin = call("Pin", urls, parameters: #""pinned":\#(isPinned)"#)
                try await asking.send(pin + "\0")
                _ = try await asking.nextReply()
                // Who reads is not held up by those who don't.
                try await reading.take { watcher in
                    watcher.items.values.allSatisfy { $0.pinned == isPinned }
                }
            }
            #expect(reading.bytes > rounds * urls.count * 200)
            let growth = try daemon.process.residentBytes() - before
            #expect(growth < 32 << 20, "\(growth) bytes for 20 watchers that do not read")
            for watcher in stalled {
                try await watcher.take { watcher in
                    watcher.items.count == urls.count
                        && watcher.items.values.allSatisfy { $0.pinned == true }
                }
                #expect(watcher.bytes < reading.bytes / 3, "\(watcher.bytes) of \(reading.bytes)")
            }
        }
    }

    // MARK: Sets that are replaced

    @Test func changesDuringASetReplacementAreNotMissed() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(60, in: scope)
            let daemon = cache.daemon
            let watcher = try Watcher(daemon)
            try await watcher.watch()
            try await watcher.take { $0.items.count == 60 }
            // Each goes at the moment its set is replaced, by everything or by some.
            for number in 0..<60 {
                let removing = try daemon.connect()
                try await removing.send(call("Remove", [cache.urls[number]]) + "\0")
                try await watcher.watch(
                    number.isMultiple(of: 3) ? Array(cache.urls[number...]) : nil)
                if number.isMultiple(of: 5) { try await watcher.takeUpToLatest() }
                _ = try await removing.nextReply()
            }
            try await watcher.take { $0.items.values.allSatisfy { $0.state == .missing } }
        }
    }

    /// Images come, fail, are evicted, removed and pinned, by everybody and in any order, while watchers
    /// replace what they watch and read when they like. What they believe in the end is what is so.
    @Test func watchersConvergeOnTheActualState() async throws {
        try await withTestScope { scope in
            let script = try await WatchWorkload(in: scope)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<6 {
                    group.addTask { try await script.watch(number) }
                }
                try await script.runOperations()
                let replies = try await group.reduce(0, +)
                print(
                    "watchers: \(script.operations) operations, \(replies) replies, seed \(testSeed)"
                )
            }
        }
    }
}

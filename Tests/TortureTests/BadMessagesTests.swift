import CacheWire
import Foundation
import Synchronization
import TestSupport
import Testing

/// Every connection is answered or closed, even if its messages are broken, and the daemon keeps working.
@Suite("Bad messages", .serialized, .timeLimit(.minutes(isLongForm ? 120 : 10)))
struct BadMessagesTests {
    /// Messages in total, on connections of 1 to 40.
    private static let count = isLongForm ? 1_000_000 : 4000
    private static let clients = 4
    /// Failed fetches before the measurement: more than the daemon remembers, so that memory no longer
    /// grows with each.
    private static let failures = isLongForm ? 20_000 : 1000

    @Test func brokenMessagesAreAnsweredAndLeakNothing() async throws {
        let promise = Promise(
            "broken and correct messages: each is answered, nothing leaks")
        try await promise.test { figures in
            try await withTestScope { scope in
                let origin = try ScriptedOrigin(in: scope)
                origin.route("/a.png", .answer(body: SampleImage.png()))
                origin.route("/cut.png", .cut(SampleImage.png(), after: 40))
                let daemon = try await DaemonFixture.start(in: scope)
                let fuzzer = CallFuzzer(
                    InterfaceDescription.cache,
                    urls: ["/a.png", "/cut.png", "/none.png"].map { origin.url($0) })
                #expect(fuzzer.methods.count >= 10)
                let clients = BrokenClients(daemon: daemon, fuzzer: fuzzer)
                try await clients.fail(
                    (0..<Self.failures).map { origin.url("/none.png?\($0)") }, by: 1000)
                try await clients.run(Self.count / 9, clients: Self.clients, seed: testSeed)
                var total = BrokenClients.Tally()
                var baselines: [ResourceBaseline] = []
                for slice: UInt64 in 1...9 {
                    do {
                        total += try await clients.run(
                            Self.count / 9, clients: Self.clients, seed: testSeed &+ slice * 1000)
                    } catch {
                        throw TestFailure(
                            "\(error); the daemon logged:\n\(daemon.log.suffix(60_000))")
                    }
                    baselines.append(try await ResourceBaseline(daemon))
                }
                figures += [
                    "\(total.messages) messages on \(total.connections) connections",
                    "\(total.answers) replies",
                    baselines.map { "\($0.kibibytes)" }.joined(separator: " ")
                        + " KiB after each ninth",
                ]
                // The allocator keeps varying amounts, so the smallest measurements are compared.
                if let first = baselines.prefix(3).min() {
                    figures += try await first.expectNoGrowth(orIn: baselines.suffix(3).min())
                }
            }
        }
    }

    @Test func onlyMessagesOverTheLimitAreRefused() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let longest = Array(repeating: UInt8(ascii: " "), count: Message.maximumLength - 1)
            let call = Array(#"{"method":"org.varlink.service.GetInfo"}"#.utf8)
            for extra in [-call.count - 1, -call.count, -call.count + 1, 0, 1, 4096] {
                let padding = longest + longest.prefix(max(extra, 0))
                let message = padding.dropLast(max(-extra, 0)) + call + [0]
                let exchange = try await offPool {
                    try Exchange(with: daemon.socket, sending: [message])
                }
                let answer = String(decoding: exchange.messages.first ?? [], as: UTF8.self)
                let isTaken = message.count <= Message.maximumLength
                #expect(exchange.messages.count == 1)
                #expect(answer.contains(isTaken ? "cached" : "MessageTooLarge"), "\(message.count)")
            }
            try await ResourceBaseline.expectAnswer(from: daemon)
        }
    }
}

/// Clients that send broken messages.
private struct BrokenClients: Sendable {
    /// Counts of one run.
    struct Tally: Sendable {
        var connections = 0
        var messages = 0
        var answers = 0

        static func += (sum: inout Tally, other: Tally) {
            sum.connections += other.connections
            sum.messages += other.messages
            sum.answers += other.answers
        }
    }

    let daemon: DaemonFixture
    let fuzzer: CallFuzzer

    /// The last bytes sent on every connection. The NUL in front ends any incomplete message.
    private static let lastCall = Array("\0{\"method\":\"org.varlink.service.GetInfo\"}\0".utf8)
    /// Errors after which the daemon closes the connection.
    private static let finalErrors = [
        "io.cached.Cache.InvalidMessage", "io.cached.Cache.MessageTooLarge",
    ]

    private static let tooLong = [UInt8](repeating: 0x20, count: Message.maximumLength + 1)

    /// Makes the daemon fetch URLs that don't exist, in batches.
    func fail(_ urls: [String], by batch: Int) async throws {
        for start in stride(from: 0, to: urls.count, by: batch) {
            let parameters = Methods.Fetch.Parameters(
                urls: Array(urls[start..<min(start + batch, urls.count)]))
            let items = try await offPool { [socket = daemon.socket] in
                try Client(paths: [socket]).call(Methods.Fetch.self, parameters).items
            }
            #expect(items.allSatisfy { $0.failure?.httpStatus == 404 })
        }
    }

    /// Runs several clients at once until all messages are sent.
    @discardableResult
    func run(_ count: Int, clients: Int, seed: UInt64) async throws -> Tally {
        try await withThrowingTaskGroup(of: Tally.self) { group in
            for client in 0..<clients {
                group.addTask {
                    try await offPool {
                        try self.sendMessages(
                            count / clients, SeededGenerator(seed: seed &+ UInt64(client)))
                    }
                }
            }
            return try await group.reduce(into: Tally()) { $0 += $1 }
        }
    }

    private func sendMessages(_ count: Int, _ generator: SeededGenerator) throws -> Tally {
        var random = generator
        var tally = Tally()
        while tally.messages < count {
            // The daemon reads no further after an invalid message, so the broken one comes last.
            let messages =
                (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    fuzzer.oddCall(using: &random)
                } + [random.oneIn(1000) ? Self.tooLong : fuzzer.brokenCall(using: &random)]
            let speech = messages.joined(separator: [0]) + Self.lastCall
            let leaves = random.oneIn(10)
            let exchange = try Exchange(
                with: daemon.socket, sending: pieces(of: Array(speech), &random),
                leaves ? .closesUnread : .readsToEnd)
            tally.connections += 1
            tally.messages += messages.count
            tally.answers += try leaves ? 0 : check(exchange)
        }
        return tally
    }

    /// Cuts at random places, often within a message.
    private func pieces(of bytes: [UInt8], _ random: inout SeededGenerator) -> [[UInt8]] {
        let cuts = (0..<Int.random(in: 0...6, using: &random)).map { _ in
            Int.random(in: 0...bytes.count, using: &random)
        }
        let places = [0] + cuts.sorted() + [bytes.count]
        return zip(places, places.dropFirst()).map { Array(bytes[$0..<$1]) }
    }

    /// Every reply is JSON. The last one answers the last call, unless the daemon had to close the
    /// connection before.
    private func check(_ exchange: Exchange) throws -> Int {
        let messages = exchange.messages
        guard exchange.received.last == 0 else { throw TestFailure("a reply is not complete") }
        for message in messages {
            let reply = try JSONSerialization.jsonObject(with: Data(message))
            guard let members = reply as? [String: Any],
                members["parameters"] is [String: Any] || members["error"] is String
            else { throw TestFailure("not a reply: \(String(decoding: message, as: UTF8.self))") }
        }
        let last = String(decoding: messages.last ?? [], as: UTF8.self)
        let isAnswered = last.contains(#""product":"cached""#)
        guard isAnswered || Self.finalErrors.contains(where: { last.contains($0) }) else {
            throw TestFailure("the last call was not answered; last reply: \(last.prefix(500))")
        }
        return messages.count
    }
}

import CacheWire
import Foundation
import Synchronization
import TestSupport
import Testing

/// Whatever is said on the socket, each connection is answered or closed, and the daemon stays as it is.
@Suite("Bad messages", .serialized, .timeLimit(.minutes(isLongForm ? 120 : 10)))
struct BadMessagesTests {
    /// Messages in all, on connections of 1 to 40.
    private static let count = isLongForm ? 1_000_000 : 4000
    private static let clients = 4
    /// To begin with, more than are remembered: before that memory grows by each.
    private static let failures = isLongForm ? 20_000 : 1000

    @Test func brokenMessagesAreAnsweredAndLeakNothing() async throws {
        let promise = Promise(
            "messages of all kinds, broken and whole: each answered, nothing left")
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
                var told = BrokenClients.Tally()
                var watches: [ResourceBaseline] = []
                for slice: UInt64 in 1...9 {
                    do {
                        told += try await clients.run(
                            Self.count / 9, clients: Self.clients, seed: testSeed &+ slice * 1000)
                    } catch {
                        throw TestFailure(
                            "\(error); the daemon said:\n\(daemon.log.suffix(60_000))")
                    }
                    watches.append(try await ResourceBaseline(daemon))
                }
                // Its allocator keeps now more, now less: what counts is the daemon at its smallest.
                if let watch = watches.prefix(3).min() {
                    figures += try await watch.expectNoGrowth(orIn: watches.suffix(3).min())
                }
                figures.insert(
                    "\(told.messages) messages on \(told.connections) connections", at: 0)
                figures.insert("\(told.answers) answers", at: 1)
                let sizes = watches.map { "\($0.kibibytes)" }.joined(separator: " ")
                figures.append("\(sizes) kiB after each ninth")
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

/// Clients that talk nonsense.
private struct BrokenClients: Sendable {
    /// What came of it.
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

    /// The last that is said on every connection; what was begun before it ends with the NUL in front.
    private static let lastCall = Array("\0{\"method\":\"org.varlink.service.GetInfo\"}\0".utf8)
    /// Replies behind which the daemon closes the connection.
    private static let finalErrors = [
        "io.cached.Cache.InvalidMessage", "io.cached.Cache.MessageTooLarge",
    ]

    private static let tooLong = [UInt8](repeating: 0x20, count: Message.maximumLength + 1)

    /// Has the daemon fetch what is not there, so many at a time.
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

    /// Several clients at once, until all messages are sent.
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
            // The daemon takes nothing more behind what is no call, so that comes last.
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

    /// Every answer is JSON, and the last one is that to the last call, unless the connection was closed
    /// for good reason before.
    private func check(_ exchange: Exchange) throws -> Int {
        let messages = exchange.messages
        guard exchange.received.last == 0 else { throw TestFailure("an answer without its end") }
        for message in messages {
            let reply = try JSONSerialization.jsonObject(with: Data(message))
            guard let members = reply as? [String: Any],
                members["parameters"] is [String: Any] || members["error"] is String
            else { throw TestFailure("no reply: \(String(decoding: message, as: UTF8.self))") }
        }
        let last = String(decoding: messages.last ?? [], as: UTF8.self)
        let isAnswered = last.contains(#""product":"cached""#)
        guard isAnswered || Self.finalErrors.contains(where: { last.contains($0) }) else {
            throw TestFailure("the last call was not answered, but: \(last.prefix(500))")
        }
        return messages.count
    }
}

import CacheKey
import CacheWire
import Synchronization
import TestSupport
import Testing

/// However broken a response is, its download ends, only bytes that were sent are published, and the
/// daemon keeps working.
@Suite("Bad origins", .serialized, .timeLimit(.minutes(isLongForm ? 60 : 10)))
struct BadOriginsTests {
    private static let count = isLongForm ? 50_000 : 600
    /// Replies before the baseline is measured; by then the memory of failures is full (16,384).
    private static let warmUp = isLongForm ? 40_000 : 120
    /// URLs in one call. Each is fetched twice, so that there is something to resume or revalidate.
    private static let batch = 100

    @Test func brokenRepliesAreHandledAndLeakNothing() async throws {
        let promise = Promise(
            "broken and correct responses of origins: each is handled, nothing leaks")
        try await promise.test { figures in
            try await withTestScope { scope in
                let daemon = try await DaemonFixture.start(
                    ["--accept", "svg", "--max-image-bytes", "1MiB", "--max-bytes", "20MB"],
                    in: scope)
                let origin = try BadOrigin(in: scope)
                let baseline: ResourceBaseline
                let tally: BadOrigin.Tally
                do {
                    try await origin.serve(Self.warmUp, to: daemon, by: Self.batch)
                    baseline = try await ResourceBaseline(daemon)
                    tally = try await origin.serve(Self.count, to: daemon, by: Self.batch)
                } catch {
                    throw TestFailure("\(error); the daemon logged:\n\(daemon.log.suffix(60_000))")
                }
                #expect(tally.published > 0 && tally.refused > 0)
                figures += [
                    "\(tally.replies) replies", "\(tally.published) published",
                    "\(tally.refused) refused",
                ]
                figures += try await baseline.expectNoGrowth()
            }
        }
    }
}

/// An origin that sends a different response to every request, and records them.
private final class BadOrigin: Sendable {
    struct Tally: Sendable {
        var replies = 0
        var published = 0
        var refused = 0
    }

    private struct State {
        var random: SeededGenerator
        var replies = 0
        /// All bodies sent for each target.
        var bodies: [String: [[UInt8]]] = [:]
    }

    private let origin: ScriptedOrigin
    private let state: Mutex<State>
    private let nextBatch = Atomic(0)

    init(in scope: TestScope) throws {
        let origin = try ScriptedOrigin(in: scope)
        let state = Mutex(State(random: SeededGenerator(seed: testSeed)))
        let svg = Array(#"<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>"#.utf8)
        let fuzzer = ReplyFuzzer(
            images: [
                SampleImage.png(), SampleImage.png(byteCount: 9000), svg,
                SampleImage.png(byteCount: 300_000),
            ],
            targets: ["/good.png", "/loop.png", origin.url("/good.png")])
        origin.route("/good.png", .answer(body: SampleImage.png()))
        origin.route("/loop.png", .redirect(to: "/loop.png"))
        self.origin = origin
        self.state = state
        origin.route("/a.png") { [weak self] in self?.reply(to: $0, from: fuzzer) ?? [] }
    }

    private func reply(to request: OriginRequest, from fuzzer: ReplyFuzzer) -> OriginScript {
        state.withLock { state in
            let reply = fuzzer.reply(using: &state.random)
            state.replies += 1
            state.bodies[request.target, default: []].append(contentsOf: [reply.body, reply.sent])
            return reply.script
        }
    }

    /// Makes a daemon fetch until `count` replies were sent, and checks the result of each.
    @discardableResult
    func serve(_ count: Int, to daemon: DaemonFixture, by batch: Int) async throws -> Tally {
        let before = state.withLock { $0.replies }
        var tally = Tally()
        while tally.replies < count {
            let first = nextBatch.add(batch, ordering: .relaxed).oldValue
            let targets = (first..<(first + batch)).map { "/a.png?\($0)" }
            for refresh in [false, true] {
                let items = try await offPool { [origin] in
                    try Client(paths: [daemon.socket]).call(
                        Methods.Fetch.self,
                        .init(urls: targets.map { origin.url($0) }, refresh: refresh)
                    ).items
                }
                for (target, item) in zip(targets, items) {
                    try check(item, target, among: Set(targets), in: daemon.directory)
                    if item.state == .cached { tally.published += 1 } else { tally.refused += 1 }
                }
            }
            tally.replies = state.withLock { state in
                state.bodies = [:]
                return state.replies - before
            }
        }
        return tally
    }

    private func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.prefix(400), as: UTF8.self).debugDescription
    }

    private func all(sentFor target: String) -> [String] {
        state.withLock { $0.bodies[target] ?? [] }.map(text)
    }

    /// The other targets for which such bytes were sent, and their connections.
    private func others(than target: String, with bytes: [UInt8]) -> [String] {
        let names = state.withLock { state in
            state.bodies.filter { $0.value.contains { $0.firstRange(of: bytes) != nil } }.map(\.key)
        }
        return ([target] + names).map { name in
            let requests = origin.requests(name)
            return
                "\(name): \(requests.map { "\($0.connection) \($0.headers)" }) \(all(sentFor: name))\n"
        }
    }

    /// Published bytes were sent by the origin: they occur in one of the bodies, or, for a resumed
    /// download, in several.
    private func check(
        _ item: Item, _ target: String, among asked: Set<String>, in directory: String
    ) throws {
        guard item.state == .cached, let path = item.path else {
            guard item.failure != nil else { throw TestFailure("\(target) has no result: \(item)") }
            return
        }
        // The image may have been evicted since.
        guard let bytes = try? contents(of: path) else { return }
        guard bytes.count == item.size else {
            throw TestFailure("\(target) has \(bytes.count) bytes instead of \(item.size ?? -1)")
        }
        // A redirect, even a broken one, can lead to a target that was not requested.
        let bodies = state.withLock { state in
            state.bodies.filter { $0.key == target || !asked.contains($0.key) }.flatMap(\.value)
                + [SampleImage.png()]
        }
        guard bodies.contains(where: { $0.firstRange(of: bytes.prefix(16)) != nil }) else {
            throw TestFailure(
                """
                \(target) has bytes that the origin never sent, beginning with \(text(bytes)); \
                sent for it: \(all(sentFor: target)); sent for others: \(others(than: target, with: bytes))
                """)
        }
    }
}

import TestSupport
import Testing

@testable import CacheCore
@testable import CacheFetching

@Suite("Cache: verifications", .timeLimit(.minutes(2)))
struct VerificationTests {
    /// However many ask meanwhile, the files are read once more.
    @Test func thoseThatWaitShareTheNextReading() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: SampleImage.png()))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let (began, mayGoOn, events) = (Inbox<Void>(), Inbox<Void>(), Inbox<String>())
            let verify = { @Sendable (name: String, isFirst: Bool) in
                _ = fixture.cache.verify(repairs: false, client: .daemon) { _, _ in
                    events.put("\(name) reads")
                    guard isFirst else { return }
                    began.put(())
                    _ = mayGoOn.takeAll()
                } onEnd: { _, report in
                    events.put("\(name) has read \(report.checked)")
                }
            }
            verify("a", true)
            _ = try await offPool { began.takeAll() }
            for name in ["b", "c", "d"] { verify(name, false) }
            mayGoOn.close()
            let all = try await offPool {
                var all: [String] = []
                while all.count < 8, let more = events.takeAll() { all += more }
                return all
            }
            #expect(
                all == [
                    "a reads", "a has read 1", "b reads", "c reads", "d reads", "b has read 1",
                    "c has read 1", "d has read 1",
                ])
        }
    }
}

import HitRatio
import Testing

/// The short form of `make hit-ratio`.
@Suite("Hit ratio", .timeLimit(.minutes(5)))
struct HitRatioTests {
    private static let traces = SyntheticTrace.usual(objects: 2000, requests: 20_000)

    @Test(arguments: traces, HitRatioTable.shares)
    func theIndexIsNeverBelowPlainLRU(trace: Trace, share: Double) {
        let capacity = Int64(Double(trace.bytes) * share)
        var index = IndexPolicy(capacity: capacity)
        var plain = LeastRecentlyUsed(capacity: capacity)
        let (own, least) = (trace.replay(&index), trace.replay(&plain))
        #expect(own.requests >= least.requests, "\(trace.name), \(share)")
        #expect(own.bytes >= least.bytes, "\(trace.name), \(share)")
        #expect(least.requests > 0, "the trace has no hits")
    }

    /// A program opens what it has fetched. That alone makes no image one of those that are used.
    @Test func openingWhatWasFetchedChangesNothing() {
        let traces = Self.traces.suffix(2)
        let ratios = traces.map { trace in
            var index = IndexPolicy(capacity: trace.bytes / 10)
            return trace.replay(&index)
        }
        #expect(abs(ratios[0].requests - ratios[1].requests) < 0.01)
    }

    @Test func theModelsEvictWhatTheirPapersSay() throws {
        // Two objects fit. B is used, C evicts one of them, and the last request shows which.
        func isHit(_ policy: some CachePolicy, _ objects: String) -> Bool {
            var policy = policy
            return objects.reduce(false) { _, object in
                policy.request(
                    Request(object: Int(object.asciiValue ?? 0), bytes: 5, second: 0))
            }
        }
        #expect(isHit(LeastRecentlyUsed(capacity: 10), "ABCB"))
        #expect(!isHit(LeastRecentlyUsed(capacity: 10), "ABCA"))
        #expect(isHit(LeastRecentlyUsed(capacity: 10), "ABACA"))
        #expect(isHit(SegmentedLRU(capacity: 10), "AABCDA"))
        #expect(!isHit(SegmentedLRU(capacity: 10), "AABCDB"))
        // The hand spares A once and evicts B, then A, which was not used again.
        #expect(isHit(Sieve(capacity: 10), "ABACA"))
        #expect(!isHit(Sieve(capacity: 10), "ABACDA"))
        // Two uses take A from the small queue into the main one.
        #expect(isHit(S3FIFO(capacity: 10), "ABAACDEA"))
        #expect(!isHit(S3FIFO(capacity: 10), "ABACDEA"))
    }

    @Test func aTraceIsReadFromLines() throws {
        let trace = try Trace(name: "two", lines: ["100.5 http://a/ 10", "", "160 b 7", "161 b 7"])
        #expect(trace.requests.map(\.object) == [0, 1, 1])
        #expect(trace.requests.map(\.second) == [0, 60, 61])
        #expect(trace.bytes == 17)
        for line in ["1 a", "x a 1", "1 a 0", "1 a -5", "-1 a 5", "9e99 a 5"] {
            #expect(throws: MalformedLine.self, "\(line)") {
                try Trace(name: "bad", lines: ["1 a 1", line])
            }
        }
    }
}

import CacheFetching
import CacheValues
import TestSupport
import Testing

@Suite("Retries", .timeLimit(.minutes(5)))
struct RetryPolicyTests {
    let policy = RetryPolicy()
    static let broken = Failure(.unreachable, "")

    private func pause(
        _ attempts: Int, _ failure: Failure = broken, retryAfter: Int64? = nil, seed: UInt64 = 1
    ) -> Duration? {
        var random = SeededGenerator(seed: seed)
        return policy.pause(
            after: failure, attempts: attempts, retryAfter: retryAfter, using: &random)
    }

    @Test func pausesDoubleWithJitterAndEndAfterFourAttempts() throws {
        var seen: Set<Duration> = []
        for seed in 1...200 as ClosedRange<UInt64> {
            for (attempts, range) in [(1, 1.0...2.0), (2, 2.0...4.0), (3, 4.0...8.0)] {
                let pause = try #require(self.pause(attempts, seed: seed))
                #expect(pause >= .seconds(range.lowerBound) && pause <= .seconds(range.upperBound))
                seen.insert(pause)
            }
            #expect(self.pause(4, seed: seed) == nil)
        }
        #expect(seen.count > 500)
    }

    @Test func pausesAreNeverLongerThanFiveMinutes() throws {
        var patient = policy
        patient.attempts = 1000
        var random = SeededGenerator(seed: 1)
        for attempts in 1..<1000 {
            let found = patient.pause(
                after: Self.broken, attempts: attempts, retryAfter: nil, using: &random)
            let pause = try #require(found)
            #expect(pause >= .seconds(1) && pause <= .seconds(300))
        }
        #expect(pause(1, retryAfter: 1 << 31) == .seconds(300))
    }

    @Test func pauseIsAtLeastRetryAfter() {
        #expect(pause(1, retryAfter: 20) == .seconds(20))
        #expect(pause(1, retryAfter: 0) == pause(1))
    }

    static let kinds: [(Failure.Kind, Bool)] = [
        (Failure.Kind.unresolved, true), (.unreachable, true), (.timeout, true), (.truncated, true),
        (.tls, false), (.addressRefused, false), (.notAnImage, false), (.tooLarge, false),
        (.digestMismatch, false), (.invalidURL, false), (.redirect, false), (.storage, false),
        (.obstructed, false), (.removed, false), (.shuttingDown, false), (.protocolError, false),
    ]

    @Test(arguments: kinds)
    func retriesOnlyTransientFailures(kind: Failure.Kind, isTried: Bool) {
        #expect((pause(1, Failure(kind, "")) != nil) == isTried)
    }

    @Test(arguments: [
        (408, true), (429, true), (500, true), (502, true), (503, true), (504, true), (599, true),
        (400, false), (401, false), (403, false), (404, false), (410, false), (204, false),
        (301, false), (600, false),
    ])
    func retriesStatusesThatMeanNotNow(status: Int, isTried: Bool) {
        #expect((pause(1, Failure(.http, "", httpStatus: status)) != nil) == isTried)
    }

    // MARK: Memory

    static let memories: [(Failure, Int64)] = [
        (missing(404), 60), (missing(410), 60), (missing(403), 60), (missing(503), 10),
        (missing(408), 10), (Failure(.unreachable, ""), 10), (Failure(.unresolved, ""), 10),
        (Failure(.timeout, ""), 10), (Failure(.truncated, ""), 10), (Failure(.tls, ""), 60),
        (Failure(.redirect, ""), 60), (Failure(.protocolError, ""), 60),
        (Failure(.addressRefused, ""), 60), (Failure(.notAnImage, ""), 300),
        (Failure(.tooLarge, ""), 300), (Failure(.digestMismatch, ""), 0),
        (Failure(.storage, ""), 0), (Failure(.removed, ""), 0),
    ]

    private static func missing(_ status: Int) -> Failure {
        Failure(.http, "", httpStatus: status)
    }

    @Test(arguments: memories)
    func remembersFailuresByClass(failure: Failure, seconds: Int64) {
        #expect(policy.negativeTTL(of: failure, serverDelay: nil, isOffline: false) == seconds)
        #expect(policy.negativeTTL(of: failure, serverDelay: nil, isOffline: true) == 0)
        var forgetful = policy
        forgetful.remembersFailures = false
        #expect(forgetful.negativeTTL(of: failure, serverDelay: 100, isOffline: false) == 0)
    }

    @Test func obeysTheResponseUpToFiveMinutes() {
        let missing = Self.missing(404)
        #expect(policy.negativeTTL(of: missing, serverDelay: 5, isOffline: false) == 5)
        #expect(policy.negativeTTL(of: missing, serverDelay: 0, isOffline: false) == 0)
        #expect(policy.negativeTTL(of: missing, serverDelay: 86400, isOffline: false) == 300)
        #expect(
            policy.negativeTTL(of: Failure(.storage, ""), serverDelay: 50, isOffline: false) == 0)
    }
}

import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching

@Suite("Negative cache", .timeLimit(.minutes(5)))
struct NegativeCacheTests {
    @Test func keepsTheLatestFailureOfEachKeyUntilForgotten() {
        var memory = NegativeCache()
        memory.record(.http(404), of: Sample.key("a"))
        memory.record(.http(500), of: Sample.key("a"))
        memory.record(.removed, of: Sample.key("b"))
        #expect(memory[Sample.key("a")] == .http(500))
        memory.forget(Sample.key("a"))
        #expect(memory[Sample.key("a")] == nil)
        #expect(memory[Sample.key("b")] == .removed)
    }

    @Test func forgetsTheOldestFirstAndStaysBounded() {
        var memory = NegativeCache()
        let keys = (0..<3 * NegativeCache.capacity).map { Sample.key("\($0)") }
        for key in keys { memory.record(.removed, of: key) }
        let known = keys.filter { memory[$0] != nil }
        #expect(known.count <= NegativeCache.capacity)
        #expect(known.count >= NegativeCache.capacity / 2)
        #expect(known == Array(keys.suffix(known.count)))
    }

    @Test func returnsRecordedFailuresByteForByte() throws {
        var memory = NegativeCache()
        let url = try CacheURL("https://example.com/ü.png?a=b")
        let failures = [
            Failure(.http, "ÿ 👩‍👩‍👧 is gone", httpStatus: 410, retryAt: UnixTime(rawValue: 1 << 40)),
            Failure(.unreachable, "", retryAt: UnixTime(rawValue: 0)),
            Failure(.tooLarge, String(repeating: "é", count: 2000)),
        ]
        for (number, failure) in failures.enumerated() {
            memory.record(failure, of: Sample.key("\(number)"), number == 1 ? nil : url)
        }
        for (number, failure) in failures.enumerated() {
            let key = Sample.key("\(number)")
            #expect(memory[key] == failure)
            #expect(memory.kind(of: key) == failure.kind)
            #expect(memory.url(of: key) == (number == 1 ? nil : url))
        }
        #expect(memory.forgetAll(.tooLarge) == [Sample.key("2")])
        #expect(memory[Sample.key("2")] == nil && memory[Sample.key("0")] == failures[0])
    }

    @Test func longTextsAreForgottenSooner() throws {
        var memory = NegativeCache()
        let path = String(repeating: "a", count: CacheURL.maximumLength - 32)
        let keys = try (0..<4000).map { number in
            let url = try CacheURL("https://example.com/\(number)/\(path)")
            let failure = Failure(.timeout, String(repeating: "\(number % 10)", count: 9999))
            memory.record(failure, of: CacheKey(url), url)
            return CacheKey(url)
        }
        let known = keys.filter { memory.kind(of: $0) != nil }
        #expect(known.count * (CacheURL.maximumLength + 2048) <= 4 << 20)
        #expect(known.count * (CacheURL.maximumLength + 2048) > 2 << 20)
        #expect(known == Array(keys.suffix(known.count)))
        #expect(memory.url(of: known[0])?.string.hasSuffix(path) == true)
    }

    @Test func recordingTheSameFailureAgainRenewsIt() {
        var memory = NegativeCache()
        memory.record(.http(404), of: Sample.key("a"))
        for number in 0..<NegativeCache.capacity / 2 {
            memory.record(.removed, of: Sample.key("\(number)"))
        }
        memory.record(.http(500), of: Sample.key("a"))
        #expect(memory[Sample.key("a")] == .http(500))
        memory.forget(Sample.key("a"))
        #expect(memory[Sample.key("a")] == nil)
    }

    /// This holds even if the size of the texts, not the number of failures, causes the eviction.
    @Test func aFailureRecordedTwiceIsForgottenAtOnce() {
        var memory = NegativeCache()
        let long = Failure(.timeout, String(repeating: "a", count: 2048))
        let other = Failure(.timeout, String(repeating: "b", count: 2048))
        memory.record(long, of: Sample.key("a"))
        for number in 0..<1023 { memory.record(other, of: Sample.key("\(number)")) }
        memory.record(other, of: Sample.key("a"))
        #expect(memory[Sample.key("a")] == other)
        memory.forget(Sample.key("a"))
        #expect(memory[Sample.key("a")] == nil)
    }

    @Test func identicalTextsTakeNoExtraSpace() throws {
        var memory = NegativeCache()
        let url = try CacheURL("https://example.com/a.png")
        let long = Failure(.timeout, String(repeating: "a", count: 2048))
        for number in 0..<1000 { memory.record(long, of: Sample.key("\(number)"), url) }
        for time in 1...10_000 {
            let failure = long.retrying(at: UnixTime(rawValue: UInt32(time)))
            memory.record(failure, of: Sample.key("0"), url)
            #expect(memory[Sample.key("0")] == failure)
        }
        #expect((0..<1000).allSatisfy { memory[Sample.key("\($0)")] != nil })
        #expect(memory.url(of: Sample.key("0")) == url)
        memory.record(long, of: Sample.key("0"))
        #expect(memory.url(of: Sample.key("0")) == nil)
    }

    @Test func aForgottenFailureNeverEvictsANewerOne() {
        var memory = NegativeCache()
        memory.record(.removed, of: Sample.key("a"))
        memory.forget(Sample.key("a"))
        for number in 0..<NegativeCache.capacity - 1 {
            memory.record(.removed, of: Sample.key("\(number)"))
        }
        memory.record(.http(404), of: Sample.key("a"))
        #expect(memory[Sample.key("a")] == .http(404))
        #expect(memory[Sample.key("0")] == .removed)
    }
}

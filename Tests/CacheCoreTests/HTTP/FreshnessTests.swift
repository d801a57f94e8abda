import Testing

@testable import CacheCore

@Suite("Freshness", .timeLimit(.minutes(1)))
struct FreshnessTests {
    let now = UnixTime(rawValue: 1_790_000_000)

    @Test func maxAgeWinsOverExpires() {
        let freshness = Freshness(
            date: now, expires: now + 10, hasExpires: true, lastModified: now + -1000, maxAge: 500)
        #expect(freshness.freshUntil(now: now) == now + 500)
    }

    @Test func timeSpentInOtherCachesCounts() {
        #expect(Freshness(maxAge: 500, age: 200).freshUntil(now: now) == now + 300)
        #expect(Freshness(maxAge: 500, age: 900).freshUntil(now: now) == now + -400)
        #expect(Freshness(maxAge: 500, age: -200).freshUntil(now: now) == now + 500)
    }

    @Test func expiresCountsFromTheResponsesOwnDate() {
        // A clock that is an hour ahead does not shorten the lifetime.
        let freshness = Freshness(date: now + 3600, expires: now + 3700, hasExpires: true)
        #expect(freshness.freshUntil(now: now) == now + 100)
        #expect(Freshness(expires: now + 50, hasExpires: true).freshUntil(now: now) == now + 50)
    }

    @Test func anUnreadableOrPastExpiresIsStaleAtOnce() {
        #expect(Freshness(date: now, hasExpires: true).freshUntil(now: now) == now)
        let past = Freshness(date: now, expires: now + -500, hasExpires: true)
        #expect(past.freshUntil(now: now) == now)
    }

    @Test(arguments: [
        (0, 60), (100, 60), (600, 60), (601, 60), (10_000, 1000), (86400, 8640),
        (6_048_000, 604_800), (1_000_000_000, 604_800), (-500, 60),
    ])
    func theGuessIsATenthOfTheTimeSinceTheLastChangeWithinBounds(since: Int64, lifetime: Int64) {
        let freshness = Freshness(date: now, lastModified: now + -since)
        #expect(freshness.freshUntil(now: now) == now + lifetime)
    }

    @Test func whereNothingIsSaidItIsAnHour() {
        #expect(Freshness().freshUntil(now: now) == now + 3600)
    }

    @Test(arguments: [Int64.max, Int64.max - 1, 1 << 40, 1 << 32])
    func anAgeBeyondAllTimesLastsForEver(seconds: Int64) {
        let until = Freshness(maxAge: seconds).freshUntil(now: now)
        #expect(until == UnixTime(rawValue: .max))
        #expect(Freshness(maxAge: 0, age: seconds).freshUntil(now: now) == UnixTime(rawValue: 0))
    }

    @Test func timesClampWhatDoesNotFit() {
        #expect(UnixTime(clamping: -1) == UnixTime(rawValue: 0))
        #expect(UnixTime(clamping: 1 << 33) == UnixTime(rawValue: .max))
        #expect(now + Int64.min == UnixTime(rawValue: 0))
    }
}

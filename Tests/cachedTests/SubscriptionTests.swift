import CacheKey
import NIOCore
import Testing

@testable import cached

/// What a stream has still to tell, and who is told of what.
struct SubscriptionTests {
    private let keys = (0..<600).map { CacheKey(high: UInt64($0) << 32, low: 0) }

    private func named(_ number: UInt64, _ range: Range<Int>) -> Subscription {
        let urls = Dictionary(uniqueKeysWithValues: range.map { (keys[$0], "url \($0)") })
        return Subscription(SubscriptionID(rawValue: number), .named(urls), from: ChangeLog().end)
    }

    private func change(_ number: Int) -> Change {
        Change(
            key: keys[number], standing: .here, hasFailed: false, isQueued: nil, item: ByteBuffer())
    }

    @Test func whatWasMissedIsToldOnceInStretches() {
        let log = ChangeLog()
        var subscription = named(1, 0..<600)
        #expect(subscription.isUpToDate(at: log.end))
        for _ in 0..<3 { subscription.missed(keys) }
        var told: [CacheKey] = []
        while !subscription.isUpToDate(at: log.end) {
            let stretch = subscription.takeUntold(from: log) ?? []
            #expect(stretch.count <= Subscription.stretch)
            told += stretch
        }
        #expect(told.count == 600 && Set(told) == Set(keys))
    }

    @Test func everythingIsReadFromTheLog() {
        var log = ChangeLog()
        var subscription = Subscription(SubscriptionID(rawValue: 1), .everything, from: log.end)
        log.append(keys[..<300])
        #expect(!subscription.isUpToDate(at: log.end))
        #expect(subscription.takeUntold(from: log) == Array(keys[..<256]))
        #expect(subscription.takeUntold(from: log) == Array(keys[256..<300]))
        #expect(subscription.isUpToDate(at: log.end))
    }

    /// Of a set that is replaced, the state at the beginning of the new one tells all but what went.
    @Test func whatWasNotToldIsToldByItsSuccessor() {
        var log = ChangeLog()
        var old = named(1, 0..<10)
        old.missed(keys[..<4])
        var new = Subscription(SubscriptionID(rawValue: 2), .everything, from: log.end)
        new.succeed(old)
        #expect(Set(new.takeUntold(from: log) ?? []) == Set(keys[..<4]))
        log.append(keys[5..<7])
        var newer = Subscription(SubscriptionID(rawValue: 3), .everything, from: log.end)
        newer.succeed(new)
        #expect(newer.takeUntold(from: log) == Array(keys[5..<7]))
        var other = named(4, 0..<10)
        other.succeed(old)
        #expect(other.isUpToDate(at: log.end))
    }

    @Test func eachHearsOfWhatItNamed() {
        var audience = Audience<String>()
        audience.add("few", named(1, 0..<2))
        audience.add("others", named(2, 1..<3))
        #expect(audience.watches(keys[1]) && !audience.watches(keys[3]))
        #expect(audience.url(of: keys[2]) == "url 2")
        let heard = audience.listeners(to: [change(0), change(1), change(3)])
        let names = Dictionary(
            uniqueKeysWithValues: heard.map { ($0.listener, $0.changes.map(\.key)) })
        #expect(names == ["few": [keys[0], keys[1]], "others": [keys[1]]])
        audience.remove(named(1, 0..<2))
        #expect(!audience.watches(keys[0]) && audience.watches(keys[1]))
        audience.add("all", Subscription(SubscriptionID(rawValue: 3), .everything, from: .init()))
        #expect(audience.watches(keys[500]))
        #expect(audience.listeners(to: [change(500)]).isEmpty)
        #expect(audience.count == 2)
    }

    @Test func theMoreListenTheFewerChangesATurnHas() {
        var audience = Audience<String>()
        #expect(audience.turn(of: keys[...]).count == Subscription.stretch)
        let many = (0..<1001).map { (CacheKey(high: UInt64($0) << 32, low: 1), "url") }
        let urls = Dictionary(uniqueKeysWithValues: many)
        for number in 0..<100 {
            let id = SubscriptionID(rawValue: UInt64(number))
            audience.add("long", Subscription(id, .named(urls), from: .init()))
        }
        #expect(audience.turn(of: keys[...]).count == 41)
        for number in 100..<5000 { audience.add("short", named(UInt64(number), 0..<1)) }
        #expect(audience.turn(of: keys[...]) == keys[..<1])
        #expect(audience.turn(of: keys[1...]).count == 41)
    }

    @Test func veryManyAreAskedInPlaceOfBeingNoted() {
        let many = (0..<2000).map { CacheKey(high: UInt64($0) << 32, low: 1) }
        let urls = Dictionary(uniqueKeysWithValues: many.map { ($0, "url") })
        let long = Subscription(SubscriptionID(rawValue: 1), .named(urls), from: .init())
        #expect(long.isLong)
        var audience = Audience<String>()
        audience.add("many", long)
        #expect(audience.watches(many[1999]) && audience.url(of: many[0]) == "url")
        let changes = [
            Change(
                key: many[7], standing: .gone, hasFailed: false, isQueued: nil, item: ByteBuffer()),
            change(1),
        ]
        #expect(audience.listeners(to: changes).map(\.changes.count) == [1])
        audience.remove(long)
        #expect(audience.isEmpty && !audience.watches(many[7]))
    }
}

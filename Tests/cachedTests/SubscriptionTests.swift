import CacheKey
import NIOCore
import Testing

@testable import cached

/// Changes that a stream still has to report, and the streams that a change concerns.
struct SubscriptionTests {
    private let keys = (0..<600).map { CacheKey(high: UInt64($0) << 32, low: 0) }

    private func named(_ number: UInt64, _ range: Range<Int>) -> Subscription {
        let urls = Dictionary(uniqueKeysWithValues: range.map { (keys[$0], "url \($0)") })
        return Subscription(Subscription.ID(rawValue: number), .named(urls), from: ChangeLog().end)
    }

    private func change(_ number: Int) -> EncodedChange {
        EncodedChange(
            key: keys[number], state: .present, hasFailed: false, failure: nil,
            isQueued: nil, item: ByteBuffer())
    }

    @Test func missedChangesAreReportedOnceInBatches() {
        let log = ChangeLog()
        var subscription = named(1, 0..<600)
        #expect(subscription.isUpToDate(at: log.end))
        for _ in 0..<3 { subscription.missed(keys) }
        var reported: [CacheKey] = []
        while !subscription.isUpToDate(at: log.end) {
            let batch = subscription.takeUnreported(from: log) ?? []
            #expect(batch.count <= Subscription.batch)
            reported += batch
        }
        #expect(reported.count == 600 && Set(reported) == Set(keys))
    }

    @Test func aSubscriptionToEverythingReadsTheLog() {
        var log = ChangeLog()
        var subscription = Subscription(Subscription.ID(rawValue: 1), .everything, from: log.end)
        log.append(keys[..<300])
        #expect(!subscription.isUpToDate(at: log.end))
        #expect(subscription.takeUnreported(from: log) == Array(keys[..<256]))
        #expect(subscription.takeUnreported(from: log) == Array(keys[256..<300]))
        #expect(subscription.isUpToDate(at: log.end))
    }

    /// The state at the beginning of the new stream lacks only keys that are gone.
    @Test func theSuccessorReportsWhatWasNotReported() {
        var log = ChangeLog()
        var old = named(1, 0..<10)
        old.missed(keys[..<4])
        var new = Subscription(Subscription.ID(rawValue: 2), .everything, from: log.end)
        new.succeed(old)
        #expect(Set(new.takeUnreported(from: log) ?? []) == Set(keys[..<4]))
        log.append(keys[5..<7])
        var newer = Subscription(Subscription.ID(rawValue: 3), .everything, from: log.end)
        newer.succeed(new)
        #expect(newer.takeUnreported(from: log) == Array(keys[5..<7]))
        var other = named(4, 0..<10)
        other.succeed(old)
        #expect(other.isUpToDate(at: log.end))
    }

    @Test func eachListenerGetsTheChangesItNamed() {
        var index = SubscriptionIndex<String>()
        index.add("few", named(1, 0..<2))
        index.add("others", named(2, 1..<3))
        #expect(index.contains(keys[1]) && !index.contains(keys[3]))
        #expect(index.url(of: keys[2]) == "url 2")
        let found = index.listeners(to: [change(0), change(1), change(3)])
        let names = Dictionary(
            uniqueKeysWithValues: found.map { ($0.listener, $0.changes.map(\.key)) })
        #expect(names == ["few": [keys[0], keys[1]], "others": [keys[1]]])
        index.remove(named(1, 0..<2))
        #expect(!index.contains(keys[0]) && index.contains(keys[1]))
        index.add("all", Subscription(Subscription.ID(rawValue: 3), .everything, from: .init()))
        #expect(index.contains(keys[500]))
        #expect(index.listeners(to: [change(500)]).isEmpty)
        #expect(index.count == 2)
    }

    @Test func aBatchIsSmallerTheMoreListenersThereAre() {
        var index = SubscriptionIndex<String>()
        #expect(index.batch(of: keys[...]).count == Subscription.batch)
        let many = (0..<1001).map { (CacheKey(high: UInt64($0) << 32, low: 1), "url") }
        let urls = Dictionary(uniqueKeysWithValues: many)
        for number in 0..<100 {
            let id = Subscription.ID(rawValue: UInt64(number))
            index.add("long", Subscription(id, .named(urls), from: .init()))
        }
        #expect(index.batch(of: keys[...]).count == 41)
        for number in 100..<5000 { index.add("short", named(UInt64(number), 0..<1)) }
        #expect(index.batch(of: keys[...]) == keys[..<1])
        #expect(index.batch(of: keys[1...]).count == 41)
    }

    @Test func aLongSubscriptionIsSearchedInsteadOfListed() {
        let many = (0..<2000).map { CacheKey(high: UInt64($0) << 32, low: 1) }
        let urls = Dictionary(uniqueKeysWithValues: many.map { ($0, "url") })
        let long = Subscription(Subscription.ID(rawValue: 1), .named(urls), from: .init())
        #expect(long.isLong)
        var index = SubscriptionIndex<String>()
        index.add("many", long)
        #expect(index.contains(many[1999]) && index.url(of: many[0]) == "url")
        let changes = [
            EncodedChange(
                key: many[7], state: .absent, hasFailed: false, failure: nil,
                isQueued: nil, item: ByteBuffer()),
            change(1),
        ]
        #expect(index.listeners(to: changes).map(\.changes.count) == [1])
        index.remove(long)
        #expect(index.isEmpty && !index.contains(many[7]))
    }
}

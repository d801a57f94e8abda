import CacheValues
import Testing

@testable import HTTPCaching

@Suite("Reuse of entries", .timeLimit(.minutes(5)))
struct ReuseTests {
    let now = Sample.now
    let rules = CachingRules()

    private func record(_ fields: String..., rules: CachingRules = CachingRules()) -> EntryRecord {
        var head = ResponseHead("HTTP/1.1 200 OK")
        for field in fields { head.take(text: field) }
        return EntryRecord(size: 5, Sample.report, head, Sample.atOnce, rules)
    }

    @Test func freshEntryIsAHitUntilItsLastSecond() {
        let record = record("Cache-Control: max-age=100")
        #expect(record.reuse(at: now) == .fresh)
        #expect(record.reuse(at: now + 99) == .fresh)
        #expect(record.reuse(at: now + 100) == .mustRevalidate)
    }

    @Test func entryWithinStaleWhileRevalidateIsAHit() {
        let record = record("Cache-Control: max-age=100, stale-while-revalidate=50")
        #expect(record.reuse(at: now + 99) == .fresh)
        #expect(record.reuse(at: now + 100) == .staleWhileRevalidating)
        #expect(record.reuse(at: now + 149) == .staleWhileRevalidating)
        #expect(record.reuse(at: now + 150) == .mustRevalidate)
    }

    @Test(arguments: [
        "no-cache, stale-while-revalidate=50, max-age=100",
        "must-revalidate, stale-while-revalidate=50, max-age=0",
    ])
    func mustRevalidateForbidsStaleUse(field: String) {
        let record = record("Cache-Control: \(field)")
        #expect(record.reuse(at: now) == .mustRevalidate)
        #expect(!record.allowsStaleIfError(at: now, rules))
    }

    /// The times of a record are not trusted if the clock was ahead when it was written.
    @Test func entryFromTheFutureIsConfirmedOnce() {
        let record = record("Cache-Control: max-age=100, stale-while-revalidate=50")
        #expect(record.reuse(at: now + -1) == .mustRevalidate)
        let earlier = RequestTimes(sent: now + -9, received: now + -9)
        let new = record.confirmed(by: ResponseHead("HTTP/1.1 304 x"), earlier, rules)
        #expect(new?.reuse(at: now + -9) == .fresh)
        #expect(new?.freshUntil == now + 91)
    }

    @Test func mustRevalidateDoesNotConcernFreshEntries() {
        let record = record("Cache-Control: max-age=100, must-revalidate")
        #expect(record.reuse(at: now + 99) == .fresh)
        #expect(record.reuse(at: now + 100) == .mustRevalidate)
        #expect(!record.allowsStaleIfError(at: now + 100, rules))
    }

    @Test func staleEntryServesForADayAfterAFailure() {
        let record = record("Cache-Control: max-age=100")
        #expect(record.allowsStaleIfError(at: now + 100, rules))
        #expect(record.allowsStaleIfError(at: now + 100 + 86399, rules))
        #expect(!record.allowsStaleIfError(at: now + 100 + 86400, rules))
        var brief = rules
        brief.staleIfError = 0
        #expect(!record.allowsStaleIfError(at: now + 100, brief))
    }

    @Test func staleIfErrorOfTheOriginCounts() {
        let record = record("Cache-Control: max-age=100, stale-if-error=7")
        #expect(record.allowsStaleIfError(at: now + 106, rules))
        #expect(!record.allowsStaleIfError(at: now + 107, rules))
    }

    @Test(arguments: ["Cache-Control: no-store, max-age=100", "Vary: *"])
    func unstorableImageIsNoHitAndRemovedAfterAMinute(field: String) {
        let record = record(field, "ETag: \"a\"")
        #expect(record.removeAt == now + 60)
        #expect(record.reuse(at: now) == .mustRevalidate)
        #expect(!record.allowsStaleIfError(at: now, rules))
        #expect(record.validators.conditionFields.isEmpty)
    }

    @Test func onlyAPrivateCacheStoresPrivateResponses() {
        var shared = rules
        shared.isShared = true
        #expect(record("Cache-Control: private").removeAt == nil)
        #expect(record("Cache-Control: private", rules: shared).removeAt == now + 60)
    }

    @Test func entryWithoutARecordStaysFresh() {
        var record = Sample.record(size: 5)
        record.freshUntil = nil
        #expect(record.reuse(at: now + 999_999) == .fresh)
        #expect(record.allowsStaleIfError(at: now + 999_999, rules))
    }

    // MARK: Revalidation

    @Test func conditionalRequestHasAllKnownValidators() {
        let both = record("ETag: W/\"a\"", "Last-Modified: \(Sample.date(-500))")
        #expect(
            both.validators.conditionFields.map(\.line) == [
                "If-None-Match: W/\"a\"", "If-Modified-Since: \(Sample.date(-500))",
            ])
        #expect(record("X: y").validators.conditionFields.isEmpty)
    }

    /// Many origins only compare the text, and would send the whole image each time.
    @Test(arguments: [
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 +0000", "1994-11-06T08:49:37Z",
        "1994-11-06 08:49:37", "784111777", "yesterday",
    ])
    func validatorsGoBackAsTheTextThatCame(text: String) throws {
        let first = record("Last-Modified: \(text)", "ETag: a-1")
        let stored = ValidatorRecord(digest: nil, validators: first.validators).text
        let validators = try #require(ValidatorRecord(text: stored)).validators
        #expect(
            validators.conditionFields.map(\.line) == [
                "If-None-Match: a-1", "If-Modified-Since: \(text)",
            ])
        // A 304 keeps the text, whether it repeats it or not.
        let dated = record("Last-Modified: \(text)")
        for fields in [[], ["Last-Modified: \(text)"]] {
            var head = ResponseHead("HTTP/1.1 304 x")
            for field in fields { head.take(text: field) }
            let confirmed = dated.confirmed(by: head, Sample.atOnce, rules)
            #expect(confirmed?.validators == dated.validators)
        }
        let other = ResponseHead("HTTP/1.1 304 x", "Last-Modified: Mon, 7 Nov 1994 08:49:37 GMT")
        #expect(dated.confirmed(by: other, Sample.atOnce, rules) == nil)
    }

    @Test func aTagWithoutQuotesJoinsNoParts() {
        let head = ResponseHead("HTTP/1.1 200 OK", "ETag: a", "Content-Length: 5")
        #expect(PartialRecord(head, now: now) == nil)
    }

    /// Other programs can write records.
    @Test(arguments: ["\"a\r\nHost: b\"", "\"a\nb\"", "\"a b\"", "\"\0\"", "\"\u{7F}\"", ""])
    func aTagThatWouldEndTheFieldIsNotSent(tag: String) {
        var validators = Validators(entityTag: tag, lastModified: now)
        #expect(validators.conditionFields.map(\.name) == ["If-Modified-Since"])
        validators.lastModified = nil
        #expect(validators.conditionFields.isEmpty)
    }

    @Test func notModifiedMakesEntryFreshAgain() {
        let old = record(
            "Cache-Control: max-age=100", "ETag: \"a\"", "Last-Modified: \(Sample.date(-9))")
        let later = RequestTimes(sent: now + 998, received: now + 1000)
        let new = old.confirmed(by: ResponseHead("HTTP/1.1 304 Not Modified"), later, rules)
        // The stored max-age counts from the time of the 304, minus the duration of the transfer.
        #expect(new?.freshUntil == now + 1098)
        #expect(new?.terms == old.terms)
        #expect(new?.validators == old.validators)
        #expect(new?.fetchedAt == old.fetchedAt)
        #expect(new?.size == old.size)
    }

    @Test func fieldsOfA304ReplaceKnownOnes() {
        let old = record("Cache-Control: max-age=100, must-revalidate", "ETag: \"a\"")
        let head = ResponseHead(
            "HTTP/1.1 304 Not Modified", "Cache-Control: max-age=7, stale-if-error=3",
            "Last-Modified: \(Sample.date(-9))", "ETag: W/\"a\"", "Age: 2")
        let new = old.confirmed(by: head, Sample.atOnce, rules)
        #expect(new?.freshUntil == now + 5)
        #expect(new?.terms.lifetime == 7)
        #expect(new?.terms.staleIfError == 3)
        #expect(new?.terms.mustRevalidate == false)
        #expect(new?.validators.lastModified == now + -9)
        #expect(new?.validators.entityTag == "W/\"a\"")
    }

    @Test func expiresStaysWithoutASuccessor() {
        let old = record("Expires: \(Sample.date(100))", "ETag: \"a\"")
        let later = RequestTimes(sent: now + 1000, received: now + 1000)
        let plain = ResponseHead("HTTP/1.1 304 Not Modified", "ETag: \"a\"")
        #expect(old.confirmed(by: plain, later, rules)?.freshUntil == now + 100)
        let renewed = ResponseHead(
            "HTTP/1.1 304 Not Modified", "Expires: \(Sample.date(1500))",
            "Date: \(Sample.date(1000))")
        let new = old.confirmed(by: renewed, later, rules)
        #expect(new?.freshUntil == now + 1500)
        // A record without terms reads like one with Expires.
        var bare = old
        bare.terms = ReuseTerms()
        #expect(bare.confirmed(by: plain, later, rules)?.freshUntil == now + 100)
    }

    /// The response can have had an `Expires` in the past beside its `max-age`.
    @Test func withdrawnLifetimeIsNotGuessed() throws {
        let old = record("Cache-Control: max-age=100", "Expires: 0", "ETag: \"a\"")
        let head = ResponseHead("HTTP/1.1 304 Not Modified", "Cache-Control: public")
        let new = try #require(old.confirmed(by: head, Sample.atOnce, rules))
        #expect(new.freshUntil == now)
        #expect(!new.terms.isGuessed)
        #expect(new.terms.lifetime == nil)
    }

    @Test func guessIsRepeatedAfterA304() {
        let old = record("Last-Modified: \(Sample.date(-10_000))", "ETag: \"a\"")
        #expect(old.freshUntil == now + 1000)
        let later = RequestTimes(sent: now + 10_000, received: now + 10_000)
        let new = old.confirmed(by: ResponseHead("HTTP/1.1 304 Not Modified"), later, rules)
        #expect(new?.freshUntil == now + 12_000)
        #expect(new?.terms.isGuessed == true)
        let said = ResponseHead("HTTP/1.1 304 Not Modified", "Cache-Control: max-age=5")
        #expect(old.confirmed(by: said, later, rules)?.terms.isGuessed == false)
    }

    @Test(arguments: [
        ("ETag: \"a\"", "ETag: \"b\""), ("ETag: W/\"a\"", "ETag: \"ab\""),
        ("Last-Modified: Tue, 01 Sep 2026 10:00:00 GMT", "ETag: \"a\""),
        (
            "Last-Modified: Tue, 01 Sep 2026 10:00:00 GMT",
            "Last-Modified: Tue, 01 Sep 2026 10:00:01 GMT"
        ),
    ])
    func notModifiedForAnotherResponseConfirmsNothing(stored: String, sent: String) {
        let head = ResponseHead("HTTP/1.1 304 Not Modified", sent)
        #expect(record(stored).confirmed(by: head, Sample.atOnce, rules) == nil)
    }

    @Test(arguments: [("ETag: W/\"a\"", "ETag: \"a\""), ("Vary: x", "ETag: W/\"a\"")])
    func comparesTagsWithoutWeakness(stored: String, sent: String) {
        let head = ResponseHead("HTTP/1.1 304 Not Modified", sent)
        let new = record(stored).confirmed(by: head, Sample.atOnce, rules)
        #expect(new?.validators.entityTag == String(sent.dropFirst("ETag: ".count)))
    }

    @Test func sourceIgnoresTheFragment() {
        let place = ResponseSource(url: "http://a.test/b.png")
        #expect(ResponseSource(url: "http://a.test/b.png#c") == place)
        #expect(ResponseSource(url: "http://a.test/b.png?c") != place)
    }

    @Test func notModifiedWithNoStoreEndsTheEntry() {
        let head = ResponseHead("HTTP/1.1 304 Not Modified", "Cache-Control: no-store")
        let new = record("ETag: \"a\"").confirmed(by: head, Sample.atOnce, rules)
        #expect(new?.removeAt == now + 60)
        #expect(new?.reuse(at: now) == .mustRevalidate)
    }
}

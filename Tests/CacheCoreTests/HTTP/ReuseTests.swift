import Testing

@testable import CacheCore

@Suite("Reuse of entries", .timeLimit(.minutes(5)))
struct ReuseTests {
    let now = Sample.now
    let rules = CachingRules()

    private func record(_ fields: String..., rules: CachingRules = CachingRules()) -> EntryRecord {
        var head = ResponseHead("HTTP/1.1 200 OK")
        for field in fields { head.take(text: field) }
        let report = ImageReport(
            mediaType: .png, width: 64, height: 48, completeness: .whole, hasTrailingBytes: false)
        return EntryRecord(size: 5, report, head, Sample.atOnce, rules)
    }

    @Test func freshIsAHitUntilTheSecondItEnds() {
        let record = record("Cache-Control: max-age=100")
        #expect(record.reuse(at: now) == .fresh)
        #expect(record.reuse(at: now + 99) == .fresh)
        #expect(record.reuse(at: now + 100) == .mustRevalidate)
    }

    @Test func insideStaleWhileRevalidateItIsAHitToo() {
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
    func whatMustBeConfirmedIsNeverUsedStale(field: String) {
        let record = record("Cache-Control: \(field)")
        #expect(record.reuse(at: now) == .mustRevalidate)
        #expect(!record.outlivesFailure(at: now, rules))
    }

    /// Nothing of a clock that was ahead, and has been set right, is believed.
    @Test func whatComesFromTheFutureIsConfirmedOnce() {
        let record = record("Cache-Control: max-age=100, stale-while-revalidate=50")
        #expect(record.reuse(at: now + -1) == .mustRevalidate)
        let earlier = RequestTimes(sent: now + -9, received: now + -9)
        let new = record.confirmed(by: ResponseHead("HTTP/1.1 304 x"), earlier, rules)
        #expect(new?.reuse(at: now + -9) == .fresh)
        #expect(new?.freshUntil == now + 91)
    }

    @Test func mustRevalidateLeavesAFreshOneAlone() {
        let record = record("Cache-Control: max-age=100, must-revalidate")
        #expect(record.reuse(at: now + 99) == .fresh)
        #expect(record.reuse(at: now + 100) == .mustRevalidate)
        #expect(!record.outlivesFailure(at: now + 100, rules))
    }

    @Test func afterAFailureAStaleOneServesForADay() {
        let record = record("Cache-Control: max-age=100")
        #expect(record.outlivesFailure(at: now + 100, rules))
        #expect(record.outlivesFailure(at: now + 100 + 86399, rules))
        #expect(!record.outlivesFailure(at: now + 100 + 86400, rules))
        var brief = rules
        brief.staleIfError = 0
        #expect(!record.outlivesFailure(at: now + 100, brief))
    }

    @Test func theOriginsOwnWordOnFailuresCounts() {
        let record = record("Cache-Control: max-age=100, stale-if-error=7")
        #expect(record.outlivesFailure(at: now + 106, rules))
        #expect(!record.outlivesFailure(at: now + 107, rules))
    }

    @Test(arguments: ["Cache-Control: no-store, max-age=100", "Vary: *"])
    func whatMayNotBeKeptIsNoHitAndGoesAfterAMinute(field: String) {
        let record = record(field, "ETag: \"a\"")
        #expect(record.removeAt == now + 60)
        #expect(record.reuse(at: now) == .mustRevalidate)
        #expect(!record.outlivesFailure(at: now, rules))
        #expect(record.validators.conditionFields.isEmpty)
    }

    @Test func whatIsPrivateIsKeptForOneUserOnly() {
        var shared = rules
        shared.isShared = true
        #expect(record("Cache-Control: private").removeAt == nil)
        #expect(record("Cache-Control: private", rules: shared).removeAt == now + 60)
    }

    @Test func anEntryWithoutARecordIsNeverAskedAbout() {
        var record = Sample.record(size: 5)
        record.freshUntil = nil
        #expect(record.reuse(at: now + 999_999) == .fresh)
        #expect(record.outlivesFailure(at: now + 999_999, rules))
    }

    @Test(arguments: Failure.Kind.allCases)
    func staleServesWhereTheOriginCouldNotAnswer(kind: Failure.Kind) {
        let could: Set<Failure.Kind> = [
            .unresolved, .unreachable, .timeout, .tls, .truncated, .protocolError,
        ]
        #expect(Failure(kind, "").letsStaleServe == could.contains(kind))
    }

    @Test(arguments: [
        (500, true), (503, true), (429, true), (408, true), (404, false), (403, false),
    ])
    func anErrorStatusIsAnAnswerOnlyIfItIsTheClients(status: Int, serves: Bool) {
        #expect(Failure(.http, "", httpStatus: status).letsStaleServe == serves)
    }

    // MARK: Asking again

    @Test func aConditionalRequestNamesWhatIsKnown() {
        let both = record("ETag: W/\"a\"", "Last-Modified: \(Sample.date(-500))")
        #expect(
            both.validators.conditionFields.map(\.line) == [
                "If-None-Match: W/\"a\"", "If-Modified-Since: \(Sample.date(-500))",
            ])
        #expect(record("ETag: a").validators.conditionFields.isEmpty)
        #expect(record("X: y").validators.conditionFields.isEmpty)
    }

    @Test func a304MakesItFreshAgain() {
        let old = record(
            "Cache-Control: max-age=100", "ETag: \"a\"", "Last-Modified: \(Sample.date(-9))")
        let later = RequestTimes(sent: now + 998, received: now + 1000)
        let new = old.confirmed(by: ResponseHead("HTTP/1.1 304 Not Modified"), later, rules)
        // The stored max-age counts on, from the answer, less the time it took.
        #expect(new?.freshUntil == now + 1098)
        #expect(new?.terms == old.terms)
        #expect(new?.validators == old.validators)
        #expect(new?.fetchedAt == old.fetchedAt)
        #expect(new?.size == old.size)
    }

    @Test func whatA304SaysReplacesWhatWasKnown() {
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

    @Test func anExpiresWithoutASuccessorStaysInThePast() {
        let old = record("Expires: \(Sample.date(100))", "ETag: \"a\"")
        let later = RequestTimes(sent: now + 1000, received: now + 1000)
        let plain = ResponseHead("HTTP/1.1 304 Not Modified", "ETag: \"a\"")
        #expect(old.confirmed(by: plain, later, rules)?.freshUntil == now + 100)
        let renewed = ResponseHead(
            "HTTP/1.1 304 Not Modified", "Expires: \(Sample.date(1500))",
            "Date: \(Sample.date(1000))")
        let new = old.confirmed(by: renewed, later, rules)
        #expect(new?.freshUntil == now + 1500)
        // A record of the time before terms were kept reads like one with Expires.
        var bare = old
        bare.terms = ReuseTerms()
        #expect(bare.confirmed(by: plain, later, rules)?.freshUntil == now + 100)
    }

    /// It may have had an `Expires` behind its `max-age`, in the past.
    @Test func aLifetimeThatIsTakenBackIsNotGuessed() throws {
        let old = record("Cache-Control: max-age=100", "Expires: 0", "ETag: \"a\"")
        let head = ResponseHead("HTTP/1.1 304 Not Modified", "Cache-Control: public")
        let new = try #require(old.confirmed(by: head, Sample.atOnce, rules))
        #expect(new.freshUntil == now)
        #expect(!new.terms.isGuessed)
        #expect(new.terms.lifetime == nil)
    }

    @Test func aGuessIsMadeAnew() {
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
    func a304ForSomethingElseConfirmsNothing(stored: String, sent: String) {
        let head = ResponseHead("HTTP/1.1 304 Not Modified", sent)
        #expect(record(stored).confirmed(by: head, Sample.atOnce, rules) == nil)
    }

    @Test(arguments: [("ETag: W/\"a\"", "ETag: \"a\""), ("Vary: x", "ETag: W/\"a\"")])
    func aTagIsComparedWithoutItsWeakness(stored: String, sent: String) {
        let head = ResponseHead("HTTP/1.1 304 Not Modified", sent)
        let new = record(stored).confirmed(by: head, Sample.atOnce, rules)
        #expect(new?.validators.entityTag == String(sent.dropFirst("ETag: ".count)))
    }

    @Test func whereARedirectLedHasNoFragment() {
        let place = ResponseSource(url: "http://a.test/b.png")
        #expect(ResponseSource(url: "http://a.test/b.png#c") == place)
        #expect(ResponseSource(url: "http://a.test/b.png?c") != place)
    }

    @Test func a304ThatForbidsStoringEndsTheEntry() {
        let head = ResponseHead("HTTP/1.1 304 Not Modified", "Cache-Control: no-store")
        let new = record("ETag: \"a\"").confirmed(by: head, Sample.atOnce, rules)
        #expect(new?.removeAt == now + 60)
        #expect(new?.reuse(at: now) == .mustRevalidate)
    }
}

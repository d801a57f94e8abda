import CacheKey
import CacheValues
import Testing

@testable import HTTPCaching

@Suite("Freshness", .timeLimit(.minutes(5)))
struct FreshnessTests {
    let now = Sample.now
    let rules = CachingRules()

    /// Seconds for which a response with these fields is fresh.
    private func lifetime(_ fields: String..., rules: CachingRules = CachingRules()) -> Int64 {
        var head = ResponseHead("HTTP/1.1 200 OK")
        for field in fields { head.take(text: field) }
        return rules.freshness(of: head, Sample.atOnce).until - now
    }

    @Test func maxAgeWinsOverExpires() {
        #expect(lifetime("Cache-Control: max-age=500", "Expires: \(Sample.date(10))") == 500)
        #expect(lifetime("Cache-Control: max-age=0", "Expires: \(Sample.date(10))") == 0)
        #expect(lifetime("Cache-Control: max-age=500", "Expires: 0") == 500)
    }

    private func ruled(_ patterns: String...) throws -> CachingRules {
        var rules = CachingRules()
        rules.minimumFreshness = try patterns.enumerated().map {
            .init(host: try HostPattern($1), seconds: Int64(1000 * ($0 + 1)))
        }
        return rules
    }

    @Test(arguments: [
        "max-age=0", "max-age=500", "no-cache", "must-revalidate, max-age=1", "public",
    ])
    func anOwnRuleComesBeforeTheOrigin(control: String) throws {
        let rules = try ruled("*.example.net").applied(to: "a.Example.net")
        let head = ResponseHead.ok("Cache-Control: \(control)", "Expires: \(Sample.date(10))")
        let freshness = rules.freshness(of: head, Sample.atOnce)
        #expect(freshness.until == now + 1000 && freshness.terms.isRuled)
        #expect(!rules.permitsSharing(head, Sample.atOnce, freshness))
    }

    @Test func anOwnRuleShortensNothingAndKeepsNothingForbidden() throws {
        var rules = try ruled("*.example.net", "img*.example.net", "*.org")
        #expect(rules.applied(to: "a.example.net").minimumLifetime == 1000)
        #expect(rules.applied(to: "img7.example.net").minimumLifetime == 2000)
        #expect(rules.applied(to: "example.net").minimumLifetime == 0)
        rules = rules.applied(to: "img7.example.net")
        let long = rules.freshness(of: .ok("Cache-Control: max-age=5000"), Sample.atOnce)
        #expect(long.until == now + 5000 && !long.terms.isRuled)
        rules.isShared = true
        for control in ["no-store", "private"] {
            let freshness = rules.freshness(of: .ok("Cache-Control: \(control)"), Sample.atOnce)
            #expect(!freshness.terms.isRuled, "\(control)")
        }
    }

    @Test func timeInOtherCachesReducesLifetime() {
        #expect(lifetime("Cache-Control: max-age=500", "Age: 200") == 300)
        #expect(lifetime("Cache-Control: max-age=500", "Age: 900") == -400)
        #expect(lifetime("Cache-Control: max-age=500", "Age: -200") == 500)
        let fields = ["Date: \(Sample.date(-10))", "Expires: \(Sample.date(10))", "Age: 25"]
        #expect(lifetime(fields[0], fields[1], fields[2]) == -5)
    }

    @Test func durationOfTheTransferReducesLifetime() {
        let times = RequestTimes(sent: now + -7, received: now)
        let head = ResponseHead.ok("Cache-Control: max-age=500")
        #expect(rules.freshness(of: head, times).until == now + 493)
        // The clock was set back during the transfer.
        let odd = RequestTimes(sent: now + 50, received: now)
        #expect(rules.freshness(of: head, odd).until == now + 500)
    }

    @Test func expiresCountsFromTheResponsesOwnDate() {
        // The lifetime is the same if the origin's clock is an hour ahead or behind.
        for offset in [-3600, 0, 3600] as [Int64] {
            let date = "Date: \(Sample.date(offset))"
            #expect(lifetime(date, "Expires: \(Sample.date(offset + 100))") == 100)
        }
        #expect(lifetime("Expires: \(Sample.date(50))") == 50)
        #expect(lifetime("Date: foo", "Expires: \(Sample.date(10))") == 10)
    }

    @Test(arguments: [
        ("Sun, 06 Nov 2033 08:49:37 GMT", true), ("Sunday, 06-Nov-33 08:49:37 GMT", true),
        ("Sun Nov  6 08:49:37 2033", true), ("sun, 06 nov 2033 08:49:37 gmt", true),
        ("Sun, 6 Nov 2033 08:49:37 GMT", true), ("Sun, 06 Nov 2033 08:49:37 +0000", true),
        ("Sun, 21 Nov 2286 04:46:39 GMT", true), ("2033-11-06T08:49:37Z", true),
        ("2033-11-06T08:49:37+00:00", true),
        ("Sun, 06 Nov 2033 08:49:37 UTC", false), ("Sun, 06 Nov 33 08:49:37 GMT", false),
        ("Sun 06 Nov 2033 08:49:37 GMT", false), ("Sun, 06  Nov 2033 08:49:37 GMT", false),
        ("Sun, 06-Nov-2033 08:49:37 GMT", false), ("Sun, 06 Nov 2033 8:49:37 GMT", false),
    ])
    func expiresInAFormThatIsNotValidIsStale(value: String, isValid: Bool) {
        let freshFor = lifetime("Expires: \(value)")
        #expect((freshFor > 0) == isValid)
    }

    @Test func unreadableOrPastExpiresIsStaleAtOnce() {
        let date = "Date: \(Sample.date(0))"
        #expect(lifetime(date, "Expires: 0") == 0)
        #expect(lifetime(date, "Expires: ") == 0)
        #expect(lifetime(date, "Expires: \(Sample.date(-500))") == 0)
        #expect(lifetime("Date: \(Sample.date(400))", "Expires: \(Sample.date(300))") == 0)
    }

    @Test(arguments: [
        (0, 60), (100, 60), (600, 60), (610, 61), (10_000, 1000), (86400, 8640),
        (6_048_000, 604_800), (1_000_000_000, 604_800), (-500, 60),
    ])
    func guessesATenthOfTheTimeSinceTheLastChangeWithinBounds(since: Int64, expected: Int64) {
        let fields = ["Date: \(Sample.date(0))", "Last-Modified: \(Sample.date(-since))"]
        #expect(lifetime(fields[0], fields[1]) == expected)
    }

    @Test func guessFollowsTheRules() {
        var rules = CachingRules()
        rules.heuristicPercent = 50
        rules.heuristicBounds = 0...1000
        rules.unknownLifetime = 5
        #expect(lifetime("Last-Modified: \(Sample.date(-100))", rules: rules) == 50)
        #expect(lifetime("Last-Modified: \(Sample.date(-9000))", rules: rules) == 1000)
        #expect(lifetime(rules: rules) == 5)
    }

    @Test func responseWithoutDatesIsFreshForAnHour() {
        #expect(lifetime() == 3600)
        #expect(lifetime("Last-Modified: long ago") == 3600)
        #expect(lifetime("Cache-Control: public") == 3600)
    }

    @Test func pragmaCountsOnlyWithoutCacheControl() {
        #expect(lifetime("Pragma: no-cache") == 0)
        #expect(lifetime("Pragma: no-cache", "Cache-Control: max-age=9") == 9)
    }

    @Test func onlyASharedCacheObeysSharedDirectives() {
        var shared = CachingRules()
        shared.isShared = true
        for field in ["max-age=100, s-maxage=5", "s-maxage=5, max-age=100"] {
            #expect(lifetime("Cache-Control: \(field)", rules: shared) == 5)
            #expect(lifetime("Cache-Control: \(field)") == 100)
        }
        #expect(lifetime("Cache-Control: s-maxage=5", rules: shared) == 5)
        #expect(lifetime("Cache-Control: s-maxage=5") == 3600)
        for field in ["s-maxage=5", "proxy-revalidate"] {
            let head = ResponseHead.ok("Cache-Control: \(field)")
            #expect(shared.terms(head).mustRevalidate)
            #expect(!rules.terms(head).mustRevalidate)
        }
    }

    /// An answer that somebody replays, or a wrong clock, makes nothing fresh for longer.
    @Test func aDateInTheFutureMakesNothingFreshForLonger() {
        let changed = "Last-Modified: \(Sample.date(-86_400))"
        let usual = lifetime(changed, "Date: \(Sample.date(0))")
        #expect(lifetime(changed, "Date: \(Sample.date(86_400 * 300))") == usual)
    }

    @Test func clampsOverlongLifetimesAndAges() {
        let shown = ["max-age=4294967295", "max-age=99999999999999999999"]
        for field in shown {
            let until = rules.freshness(of: .ok("Cache-Control: \(field)"), Sample.atOnce).until
            #expect(until == now + 365 * 86_400)
        }
        let old = ResponseHead.ok("Cache-Control: max-age=0", "Age: 99999999999")
        // A time long ago, but not 0, which means "not known".
        #expect(rules.freshness(of: old, Sample.atOnce).until == UnixTime(rawValue: 1))
    }

    /// `stale-if-error` of the redirect, of the image, and the result. The default is a day.
    @Test(
        arguments: [
            (nil, nil, nil), (600, nil, 600), (nil, 600, 600), (600, 60, 60), (nil, 100_000, 86400),
            (100_000, nil, 86400), (100_000, 200_000, 100_000),
        ] as [(Int64?, Int64?, Int64?)])
    func stricterOfRedirectAndImageCountsWhileTheOriginFails(
        redirect: Int64?, image: Int64?, both: Int64?
    ) {
        func field(_ seconds: Int64?) -> String {
            "Cache-Control: max-age=1" + (seconds.map { ", stale-if-error=\($0)" } ?? "")
        }
        let head = ResponseHead(
            "HTTP/1.1 302 Found", field(redirect), "", "HTTP/1.1 200 OK", field(image))
        #expect(rules.freshness(of: head, Sample.atOnce).terms.staleIfError == both)
    }

    @Test func redirectLimitsTheUseOfAStaleImage() {
        func terms(_ redirect: String, _ image: String) -> ReuseTerms {
            let head = ResponseHead(
                "HTTP/1.1 302 Found", "Cache-Control: max-age=9\(redirect)", "", "HTTP/1.1 200 OK",
                "Cache-Control: max-age=9\(image)")
            return rules.freshness(of: head, Sample.atOnce).terms
        }
        #expect(terms(", must-revalidate", "").mustRevalidate)
        #expect(!terms("", "").mustRevalidate)
        let minute = ", stale-while-revalidate=60"
        #expect(terms("", minute).staleWhileRevalidate == nil)
        #expect(terms(", stale-while-revalidate=30", minute).staleWhileRevalidate == 30)
    }

    // MARK: Storing

    @Test(arguments: [
        ("Cache-Control: no-store", false, false),
        ("Cache-Control: No-Store, max-age=9", false, false),
        ("Cache-Control: no-store, must-understand", true, true),
        ("Cache-Control: private", true, false), ("Cache-Control: private=\"x\"", true, true),
        ("Cache-Control: no-cache", true, true), ("Vary: *", false, false),
        ("Vary: Accept, User-Agent", true, true), ("Expires: 0", true, true),
    ])
    func directivesPermitOrForbidStoring(field: String, privately: Bool, shared: Bool) {
        #expect(rules.permitsStoring(.ok(field)) == privately)
        var sharedRules = rules
        sharedRules.isShared = true
        #expect(sharedRules.permitsStoring(.ok(field)) == shared)
    }

    @Test(arguments: [
        ("Cache-Control: max-age=30", 30), ("Cache-Control: no-store, max-age=30", nil),
        ("Expires: 0", 0), ("Last-Modified: Tue, 01 Sep 2026 10:00:00 GMT", nil), ("X: y", nil),
    ])
    func errorIsRepeatedForItsOwnLifetime(field: String, expected: Int64?) {
        var head = ResponseHead("HTTP/1.1 404 Not Found")
        head.take(text: field)
        #expect(rules.statedLifetime(of: head, Sample.atOnce) == expected)
    }

    @Test func lifetimeOfAnErrorDoesNotConcernItsRedirect() {
        let head = ResponseHead(
            "HTTP/1.1 302 Found", "", "HTTP/1.1 404 Not Found", "Cache-Control: max-age=30")
        #expect(rules.statedLifetime(of: head, Sample.atOnce) == nil)
    }
}

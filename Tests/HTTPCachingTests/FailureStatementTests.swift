import CacheValues
import Testing

@testable import HTTPCaching

@Suite("Time of the next attempt, as a failed response states it", .timeLimit(.minutes(5)))
struct FailureStatementTests {
    @Test(arguments: [
        ("HTTP/1.1 404 x", ["Cache-Control: max-age=7", "Retry-After: 9"], 7),
        ("HTTP/1.1 404 x", ["Cache-Control: no-store"], nil), ("HTTP/1.1 404 x", [], nil),
        ("HTTP/1.1 503 x", ["Cache-Control: no-store", "Retry-After: 9"], 9),
        ("HTTP/1.1 503 x", ["Cache-Control: max-age=7"], nil),
    ])
    func transientFailureObeysRetryAfterAndOthersTheirLifetime(
        status: String, fields: [String], seconds: Int64?
    ) {
        var head = ResponseHead(status)
        for field in fields { head.take(text: field) }
        let failure = Failure(.http, "", httpStatus: head.status)
        #expect(CachingRules().statement(on: failure, by: head, Sample.atOnce) == seconds)
    }

    @Test(arguments: [
        ("0", 0), ("120", 120), ("Mon, 21 Sep 2026 13:15:20 GMT", 2120),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("soon", nil), ("-1", nil), ("1.5", nil), ("", nil),
    ])
    func retryAfterIsSecondsOrADate(value: String, seconds: Int64?) {
        let head = ResponseHead("HTTP/1.1 503 x", "Retry-After: \(value)")
        let now = HTTPDate.parse("Mon, 21 Sep 2026 12:40:00 GMT", now: Sample.now)!
        #expect(head.retryAfterSeconds(now: now) == seconds)
    }
}

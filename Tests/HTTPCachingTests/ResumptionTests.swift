import CacheValues
import Testing

@testable import HTTPCaching

@Suite("Resumption", .timeLimit(.minutes(5)))
struct ResumptionTests {
    let now = Sample.now
    let date = "Date: \(Sample.date(0))"

    private func partial(_ fields: String...) -> PartialRecord? {
        var head = ResponseHead("HTTP/1.1 200 OK", "Content-Length: 1000")
        for field in fields { head.take(text: field) }
        return PartialRecord(head, now: now)
    }

    // MARK: Records

    @Test func recordsStrongEntityTag() {
        let record = partial("ETag: \"a\"", "Last-Modified: \(Sample.date(-9))", date)
        #expect(record == PartialRecord(total: 1000, validator: .entityTag("\"a\"")))
    }

    @Test func weakTagIsNotReplacedByTheDate() {
        #expect(partial("ETag: W/\"a\"", "Last-Modified: \(Sample.date(-9))", date) == nil)
        #expect(partial("ETag: a", "Last-Modified: \(Sample.date(-9))", date) == nil)
    }

    @Test(arguments: [(-1, true), (-3600, true), (0, false), (1, false)])
    func dateIsStrongIfTheResponseIsLater(since: Int64, isStrong: Bool) {
        let record = partial("Last-Modified: \(Sample.date(since))", date)
        #expect((record != nil) == isStrong)
        if isStrong { #expect(record?.validator == .lastModified(now + since)) }
    }

    @Test func needsLengthAndStrongValidator() {
        #expect(partial() == nil)
        #expect(partial("Last-Modified: \(Sample.date(-9))") == nil)
        #expect(partial("ETag: \"a\"", "Content-Encoding: gzip") == nil)
        #expect(PartialRecord(.ok("ETag: \"a\""), now: now) == nil)
        #expect(PartialRecord(.ok("ETag: \"a\"", "Content-Length: 0"), now: now) == nil)
        let part = ResponseHead("HTTP/1.1 206 x", "ETag: \"a\"", "Content-Length: 5")
        #expect(PartialRecord(part, now: now) == nil)
    }

    @Test func parsesEveryWrittenRecord() {
        for validator in [StrongValidator.entityTag("\"a=b\""), .lastModified(now)] {
            var record = PartialRecord(total: 77, validator: validator)
            #expect(PartialRecord(text: record.text) == record)
            record.boot = "3f1c0a9be4d24877"
            #expect(PartialRecord(text: record.text) == record)
        }
        #expect(
            PartialRecord(total: 1_028_192, validator: .entityTag("\"6b-f\"")).text
                == "v1 total=1028192 etag=\"6b-f\"")
        var record = PartialRecord(total: 77, validator: .entityTag("\"a\""))
        let said = "max-age=5, must-revalidate, stale-while-revalidate=6, stale-if-error=7"
        for field in ["Cache-Control: \(said)", "Expires: \(Sample.date(9))", "X: y"] {
            record.freshness = CachingRules().freshness(of: .ok(field), Sample.atOnce)
            #expect(PartialRecord(text: record.text) == record)
        }
        #expect(record.text == "v1 total=77 fresh=\((now + 3600).rawValue) guessed=1 etag=\"a\"")
        #expect(PartialRecord(text: "v1 new=x total=5 modified=7 b=")?.total == 5)
    }

    @Test(arguments: [
        "", "v1", "v2 total=5 etag=\"a\"", "v1 etag=\"a\"", "v1 total=5", "v1 total=0 etag=\"a\"",
        "v1 total=-5 etag=\"a\"", "v1 total=x etag=\"a\"", "v1 total=5 etag=W/\"a\"",
        "v1 total=5 etag=\"", "v1 total=5 modified=x", "v1 total=5 etag=\"a\" junk",
    ])
    func rejectsOtherText(text: String) {
        #expect(PartialRecord(text: text) == nil)
    }

    // MARK: Requests

    @Test func requestsTheRestIfNothingChanged() throws {
        let tagged = try #require(
            Resumption(.init(total: 9, validator: .entityTag("\"a\"")), received: 5))
        #expect(tagged.fields.map(\.line) == ["Range: bytes=5-", "If-Range: \"a\""])
        let dated = try #require(
            Resumption(.init(total: 9, validator: .lastModified(now)), received: 9))
        #expect(dated.fields.map(\.line) == ["Range: bytes=9-", "If-Range: \(Sample.date(0))"])
    }

    @Test func doesNotContinueEmptyOrOverlongPartials() {
        let record = PartialRecord(total: 9, validator: .entityTag("\"a\""))
        #expect(Resumption(record, received: 0) == nil)
        #expect(Resumption(record, received: 10) == nil)
    }

    // MARK: Responses

    static let lastWords: [([String], Int64)] = [
        ([], 0), (["Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT"], 0),
        (["Cache-Control: max-age=50"], 50), (["Expires: \(Sample.date(70))"], 70),
    ]

    /// If the fields of the first response are not known, no lifetime is guessed.
    @Test(arguments: lastWords)
    func onlyTheLastResponseCountsIfTheFirstIsUnknown(fields: [String], seconds: Int64) throws {
        let record = together(nil, 206, fields)
        #expect(max(record.freshUntil ?? now, now) == now + seconds)
        #expect(record.validators.entityTag == "\"a\"")
    }

    /// The record of an image in two parts. The first response had the field `first`, and the last one, a 206 or
    /// a 416, had `fields`.
    private func together(
        _ first: String?, _ status: Int, _ fields: [String] = [],
        at times: RequestTimes = Sample.atOnce
    ) -> EntryRecord {
        let rules = CachingRules()
        var partial = PartialRecord(total: 10, validator: .entityTag("\"a\""))
        if let first { partial.freshness = rules.freshness(of: .ok(first), Sample.atOnce) }
        var head = ResponseHead("HTTP/1.1 \(status) x", "Date: \(Sample.date(0))")
        for field in fields { head.take(text: field) }
        return EntryRecord(Sample.report, continuing: partial, head, times, rules)
    }

    /// The last response need not repeat the fields of the first one (RFC 9111 §3.4).
    @Test func statementsOfTheFirstResponseStay() {
        let later = RequestTimes(sent: now + 1000, received: now + 1000)
        let silent = together("Cache-Control: max-age=50", 206, at: later)
        #expect(silent.freshUntil == now + 1050)
        let shorter = together("Cache-Control: max-age=50", 206, ["Cache-Control: max-age=7"])
        #expect(shorter.freshUntil == now + 7)
        #expect(
            together("Expires: \(Sample.date(70))", 206, at: later).freshUntil == now + 70)
        let refused = together("Cache-Control: no-cache", 206, ["Expires: \(Sample.date(70))"])
        #expect(refused.freshUntil == now && refused.terms.mustRevalidate)
        let guessed = together("X: y", 206, at: later)
        #expect(guessed.freshUntil == later.received + 3600)
        #expect(!guessed.terms.mustRevalidate)
    }

    @Test func fieldsOfA416DoNotConcernTheImage() {
        let later = RequestTimes(sent: now + 10, received: now + 10)
        for fields in [[], ["Cache-Control: max-age=900"], ["Cache-Control: no-store"]] {
            let record = together("Cache-Control: max-age=50", 416, fields, at: later)
            #expect(record.freshUntil == now + 50 && record.terms.lifetime == 50)
        }
    }

    /// RFC 9111 §4.2.2, §5.2.2.4.
    @Test(arguments: ["no-cache", "max-age=0, must-revalidate", "max-age=2"])
    func laterResponsesWithoutFieldsDoNotWeakenTheFirst(first: String) throws {
        let silent = ResponseHead("HTTP/1.1 304 x", "ETag: \"a\"")
        let later = RequestTimes(sent: now + 1000, received: now + 1000)
        for last in [206, 416] {
            let record = together("Cache-Control: \(first)", last)
            let confirmed = try #require(record.confirmed(by: silent, later, CachingRules()))
            let lifetime = first == "max-age=2" ? 2 : 0 as Int64
            #expect(confirmed.freshUntil == later.received + lifetime)
            #expect(confirmed.terms.mustRevalidate == (first != "max-age=2"))
        }
        let unknown = together(nil, 206).confirmed(by: silent, later, CachingRules())
        #expect(try #require(unknown?.freshUntil) <= later.received)
    }

    private func answer(received: Int64 = 400, _ lines: String...) throws -> Resumption.Answer {
        let record = PartialRecord(total: 1000, validator: .entityTag("\"a\""))
        let resumption = try #require(Resumption(record, received: received))
        var head = ResponseHead()
        for line in lines { head.take(text: line) }
        return resumption.answer(head, now: now)
    }

    @Test(arguments: [
        ["Content-Range: bytes 400-999/1000"], ["content-range: Bytes 400-999/*"],
        ["Content-Range: bytes 400-999/1000", "Content-Length: 600"],
        // The part can be shorter than requested. The next attempt requests the rest.
        ["Content-Range: bytes 400-499/1000", "Content-Length: 100"],
    ])
    func matchingPartContinues(fields: [String]) throws {
        let record = PartialRecord(total: 1000, validator: .entityTag("\"a\""))
        let resumption = try #require(Resumption(record, received: 400))
        var head = ResponseHead("HTTP/1.1 206 Partial Content", "ETag: \"a\"")
        for field in fields { head.take(text: field) }
        #expect(resumption.answer(head, now: now) == .goesOn)
    }

    @Test(arguments: [nil, "ETag: \"b\"", "ETag: W/\"a\""])
    func partHasToRepeatTheTag(tag: String?) throws {
        let record = PartialRecord(total: 1000, validator: .entityTag("\"a\""))
        let resumption = try #require(Resumption(record, received: 400))
        var head = ResponseHead("HTTP/1.1 206 x", "Content-Range: bytes 400-999/1000")
        if let tag { head.take(text: tag) }
        #expect(resumption.answer(head, now: now) == .unusable)
    }

    @Test func partEndsAtItsStatedRange() throws {
        let record = PartialRecord(total: 1000, validator: .entityTag("\"a\""))
        let resumption = try #require(Resumption(record, received: 400))
        let part = ResponseHead("HTTP/1.1 206 x", "Content-Range: bytes 400-409/1000")
        #expect(resumption.end(of: part) == 410)
        #expect(resumption.end(of: ResponseHead("HTTP/1.1 200 OK")) == nil)
    }

    @Test(arguments: [
        [], ["Content-Range: bytes 0-999/1000"], ["Content-Range: bytes 401-999/1000"],
        ["Content-Range: bytes 399-999/1000"], ["Content-Range: bytes 400-999/1001"],
        ["Content-Range: bytes 400-1000/*"], ["Content-Range: bytes 400-399/1000"],
        ["Content-Range: bytes */1000"], ["Content-Range: items 400-999/1000"],
        ["Content-Range: bytes 400-999"], ["Content-Range: bytes 400/1000"],
        ["Content-Range: bytes 400-999/1000", "Content-Length: 599"],
        ["Content-Range: bytes 400-999/1000", "Content-Encoding: gzip"],
        ["Content-Type: multipart/byteranges; boundary=x", "Content-Length: 700"],
        ["Content-Range: bytes 400-99999999999999999999/1000"],
    ])
    func mismatchingPartIsNotUsed(fields: [String]) throws {
        let record = PartialRecord(total: 1000, validator: .entityTag("\"a\""))
        let resumption = try #require(Resumption(record, received: 400))
        var head = ResponseHead("HTTP/1.1 206 Partial Content", "ETag: \"a\"")
        for field in fields { head.take(text: field) }
        #expect(resumption.answer(head, now: now) == .unusable)
    }

    @Test func partWithAnotherModificationDateIsNotUsed() throws {
        let record = PartialRecord(total: 1000, validator: .lastModified(now + -9))
        let resumption = try #require(Resumption(record, received: 400))
        let lines = ["HTTP/1.1 206 x", "Content-Range: bytes 400-999/1000"]
        let same = ResponseHead(lines[0], lines[1], "Last-Modified: \(Sample.date(-9))")
        let other = ResponseHead(lines[0], lines[1], "Last-Modified: \(Sample.date(-8))")
        #expect(resumption.answer(same, now: now) == .goesOn)
        #expect(resumption.answer(other, now: now) == .unusable)
        // Only the same validator shows that two parts are of one image.
        #expect(resumption.answer(ResponseHead(lines[0], lines[1]), now: now) == .unusable)
    }

    @Test func wholeImageStartsOver() throws {
        for fields in [
            ["ETag: \"b\"", "Content-Length: 700"], ["Content-Length: 1000"],
            ["ETag: \"a\"", "Content-Length: 1000"],
            ["ETag: \"b\"", "Content-Length: 700", "Content-Range: bytes 0-699/700"],
        ] {
            #expect(try answer(to200: fields) == .startsOver, "\(fields)")
        }
    }

    @Test(arguments: [
        [], ["ETag: \"a\""], ["ETag: \"a\"", "Content-Length: 600"], ["Content-Length: 600"],
        ["Content-Length: 999"], ["ETag: \"a\"", "Content-Length: 1000", "Content-Encoding: gzip"],
        ["ETag: \"b\"", "Content-Length: 600"], ["ETag: \"b\""], ["ETag: W/\"a\""],
        ["ETag: \"b\"", "Content-Range: bytes 400-999/1000"],
        ["Content-Length: 1000", "Content-Range: bytes 400-1399/1400"],
        ["Content-Length: 1000", "Content-Range: bytes 0-999/1001"],
        ["Content-Length: 1000", "Content-Range: bytes 0-999/*"],
        ["ETag: \"b\"", "Content-Range: 400"],
    ])
    func a200ThatCanBeThePartIsNotTakenForTheWhole(fields: [String]) throws {
        #expect(try answer(to200: fields) == .unusable)
    }

    private func answer(to200 fields: [String]) throws -> Resumption.Answer {
        let record = PartialRecord(total: 1000, validator: .entityTag("\"a\""))
        var head = ResponseHead("HTTP/1.1 200 OK")
        for field in fields { head.take(text: field) }
        return try #require(Resumption(record, received: 400)).answer(head, now: now)
    }

    @Test func aDatedPartIsContradictedOnlyByAnotherDate() throws {
        let record = PartialRecord(total: 1000, validator: .lastModified(now + -9))
        let resumption = try #require(Resumption(record, received: 1000))
        let lines = ["HTTP/1.1 416 x", "Content-Range: bytes */1000"]
        let other = ResponseHead(lines[0], lines[1], "Last-Modified: \(Sample.date(-8))")
        #expect(resumption.answer(ResponseHead(lines[0], lines[1]), now: now) == .isWhole)
        #expect(resumption.answer(other, now: now) == .unusable)
    }

    @Test func rangeBeyondTheEndMeansWholeOnlyIfTheLengthMatches() throws {
        let status = "HTTP/1.1 416 Range Not Satisfiable"
        let range = "Content-Range: bytes */1000"
        #expect(try answer(received: 1000, status, range) == .isWhole)
        #expect(try answer(received: 999, status, range) == .unusable)
        #expect(try answer(received: 1000, status, "Content-Range: bytes */999") == .unusable)
        #expect(try answer(received: 1000, status) == .unusable)
        #expect(try answer(received: 1000, status, range, "ETag: \"a\"") == .isWhole)
        #expect(try answer(received: 1000, status, range, "ETag: \"b\"") == .unusable)
    }

    @Test(arguments: [404, 408, 410, 429, 500, 503, 301])
    func missingOrUnavailableImageIsAFailure(status: Int) throws {
        #expect(try answer("HTTP/1.1 \(status) x") == .failure)
    }

    @Test(arguments: [204, 304, 400, 401, 403, 405, 412, 501])
    func possibleObjectionToRangesIsNotAFailure(status: Int) throws {
        #expect(try answer("HTTP/1.1 \(status) x") == .unusable)
    }
}

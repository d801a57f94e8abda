import CacheValues
import Testing

@testable import HTTPCaching

@Suite("Response head", .timeLimit(.minutes(5)))
struct ResponseHeadTests {
    @Test func readsFieldsThatACacheNeeds() {
        let head = ResponseHead(
            "HTTP/1.1 200 OK", "Content-Length: 22031", "ETag: W/\"a\"",
            "Last-Modified: Tue, 01 Sep 2026 10:00:00 GMT", "AGE:  17 ",
            "cache-control: public, Max-Age=\"60\"", "Date: Wed, 02 Sep 2026 10:00:00 GMT",
            "Expires: 0", "X-Other: 1", "")
        #expect(head.status == 200)
        #expect(head.contentLength == 22031)
        #expect(head.isFramed)
        #expect(head.storableEntityTag == "W/\"a\"")
        #expect(head.age == 17)
        #expect(head.cacheControl.maxAge == 60)
        let dates = head.dates(now: Sample.now)
        #expect(dates.lastModified == UnixTime(rawValue: 1_788_256_800))
        #expect(dates.date == UnixTime(rawValue: 1_788_343_200))
        #expect(head.expires == "0")
        #expect(dates.expires == nil)
    }

    @Test func readsStatusLineInAnyCase() {
        #expect(ResponseHead("http/1.1 203 ok", "").status == 203)
    }

    @Test func fieldThatLooksLikeAStatusLineStartsNoResponse() {
        let head = ResponseHead("HTTP/1.1 200 OK", "HTTP/:x 302", "Content-Length: 5", "")
        #expect(head.status == 200)
        #expect(head.redirects.isEmpty)
        #expect(head.contentLength == 5)
    }

    @Test func newStatusLineStartsANewHead() {
        let head = ResponseHead(
            "HTTP/1.1 302 Found", "Content-Length: 0", "ETag: \"old\"", "Cache-Control: max-age=9",
            "Content-Encoding: gzip", "", "HTTP/1.1 200 OK", "")
        #expect(head.status == 200)
        #expect(head.contentLength == nil)
        #expect(!head.isFramed)
        #expect(head.entityTag == nil)
        #expect(head.cacheControl.maxAge == nil)
        #expect(head.contentCodings.isEmpty)
    }

    @Test func countsTheBytesOfAllHeads() {
        let lines = ["HTTP/1.1 100 Continue", "", "HTTP/1.1 200 OK", "A: b", ""]
        var head = ResponseHead()
        for line in lines { head.take(text: line) }
        #expect(head.length == lines.reduce(0) { $0 + $1.utf8.count + 2 })
    }

    /// RFC 9112 §5.2.
    @Test func lineThatStartsWithSpaceContinuesTheFieldBefore() {
        let head = ResponseHead(
            "HTTP/1.1 200 OK", " no field", "Cache-Control: max-age=5,", "\tno-store,",
            "  \t private", "ETag:", "  \"a\"", "Content-Length: 1", " ", "Vary: Accept,", " *", "")
        #expect(head.cacheControl.maxAge == 5)
        #expect(head.cacheControl.isNoStore)
        #expect(head.entityTag == "\"a\"")
        #expect(head.contentLength == 1)
        #expect(head.variesOnAnything)
        #expect(head.isComplete)
    }

    static let lengths: [([String], Bool)] = [
        (["5"], false), (["5", "5"], false), (["5, 5"], false), (["5", "6"], true),
        (["6, 5"], true), (["5, 5", "5,6"], true), (["x"], false), (["5, x"], false), ([""], false),
    ]

    /// RFC 9112 §6.3.
    @Test(arguments: lengths)
    func detectsDifferentLengths(lines: [String], areTwo: Bool) {
        var head = ResponseHead("HTTP/1.1 200 OK")
        for line in lines { head.take(text: "Content-Length: \(line)") }
        #expect(head.hasTwoLengths == areTwo)
    }

    @Test func identityDoesNotHideAnotherEncoding() {
        let head = ResponseHead(
            "HTTP/1.1 200 OK", "Content-Encoding: gzip", "Content-Encoding: identity")
        #expect(head.contentCodings == ["gzip"])
    }

    static let ages: [([String], Int64?)] = [
        (["17"], 17), (["0, 7200"], 0), (["7200, 0"], 7200), (["0", "7200"], 0),
        (["7200", "0"], 7200), (["abc"], nil), (["-7200"], nil), (["7200.0"], nil), ([""], nil),
        (["7200;a=b"], nil), (["99999999999999999999"], 1 << 31), (["2147483649"], 1 << 31),
    ]

    @Test(arguments: ages)
    func firstAgeCountsIfItIsANumber(lines: [String], expected: Int64?) {
        var head = ResponseHead("HTTP/1.1 200 OK")
        for line in lines { head.take(text: "Age: \(line)") }
        #expect(head.age == expected)
    }

    @Test func firstLineCountsIfAFieldComesTwice() {
        let head = ResponseHead(
            "HTTP/1.1 200 OK", "Expires: a", "Expires: b", "ETag: \"a\"", "ETag: \"b\"",
            "Last-Modified: a", "Last-Modified: b", "Date: a", "Date: b", "Retry-After: 1",
            "Retry-After: 2")
        #expect(head.expires == "a")
        #expect(head.entityTag == "\"a\"")
        #expect(head.lastModified == "a")
        #expect(head.date == "a")
        #expect(head.retryAfter == "1")
    }

    @Test(arguments: [
        ("*", true), (" * ", true), ("Accept, *", true), ("Accept", false), ("", false),
        ("*-like", false),
    ])
    func onlyALoneStarVariesOnAnything(value: String, expected: Bool) {
        #expect(
            ResponseHead("HTTP/1.1 200 OK", "Vary: Origin", "Vary: \(value)", "Vary: Accept")
                .variesOnAnything == expected)
    }

    @Test(arguments: [
        ("no-cache", true), ("No-Cache", true), ("x=1, no-cache", true), ("no-cached", false),
        ("x=\"no-cache\"", false),
    ])
    func readsPragmaAsAListOfDirectives(value: String, expected: Bool) {
        #expect(
            ResponseHead("HTTP/1.1 200 OK", "Pragma: \(value)", "Pragma: x").hasPragmaNoCache
                == expected)
    }

    @Test(arguments: [
        (["HTTP/1.1 200 OK"], false), (["HTTP/1.1 200 OK", "Content-Length: 1"], true),
        (["HTTP/1.1 200 OK", "Transfer-Encoding: Chunked"], true),
        (["HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked"], true),
        (["HTTP/1.1 200 OK", "Transfer-Encoding: xchunked"], false),
        (["HTTP/1.1 200 OK", "Transfer-Encoding: gzip"], false), (["HTTP/2 200"], false),
        (["HTTP/2 200", "content-length: 1"], true), (["HTTP/3 200"], false),
        (["HTTP/1.0 200 OK"], false),
    ])
    func onlyLengthAndChunksFrameTheBody(lines: [String], isFramed: Bool) {
        var head = ResponseHead()
        for line in lines { head.take(text: line) }
        #expect(head.isFramed == isFramed)
        #expect(head.status == 200)
    }

    @Test(arguments: [
        ("identity", []), ("Identity", []), ("gzip", ["gzip"]), ("br , x-GZIP", ["br", "x-gzip"]),
        ("identity, identity", []), ("none", []), ("UTF-8", ["utf-8"]),
    ])
    func identityIsNotAnEncoding(value: String, expected: [String]) {
        let head = ResponseHead("HTTP/1.1 200 OK", "Content-Encoding: \(value)")
        #expect(head.contentCodings == expected)
        #expect(head.hasKnownCodings == !expected.contains("utf-8"))
    }

    @Test(arguments: [
        "", "\"a b\"", "\"a\u{7F}\"",
        "\"" + String(repeating: "x", count: 256) + "\"",
    ])
    func rejectsEntityTagsThatNoRecordCanHold(tag: String) {
        #expect(ResponseHead("HTTP/1.1 200 OK", "ETag: \(tag)").storableEntityTag == nil)
    }

    @Test(arguments: ["", ":", "no colon", "HTTP/", "HTTP/1.1", "HTTP/1.1 x", ": value", "\u{0}"])
    func malformedLinesAreIgnored(line: String) {
        let head = ResponseHead("HTTP/1.1 200 OK", line)
        #expect(head.status == 200 || head.status == 0)
    }
}

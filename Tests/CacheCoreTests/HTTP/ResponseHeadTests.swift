import Testing

@testable import CacheCore

@Suite("Response head", .timeLimit(.minutes(1)))
struct ResponseHeadTests {
    @Test func takesWhatACacheNeeds() {
        let head = head(
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
        #expect(head.parsedDates.lastModified == UnixTime(rawValue: 1_788_256_800))
        #expect(head.parsedDates.date == UnixTime(rawValue: 1_788_343_200))
        #expect(head.expires == "0")
        #expect(head.parsedDates.expires == nil)
    }

    @Test func aNewStatusLineStartsOver() {
        let head = head(
            "HTTP/1.1 302 Found", "Content-Length: 0", "ETag: \"old\"", "Cache-Control: max-age=9",
            "Content-Encoding: gzip", "", "HTTP/1.1 200 OK", "")
        #expect(head.status == 200)
        #expect(head.contentLength == nil)
        #expect(!head.isFramed)
        #expect(head.entityTag == nil)
        #expect(head.cacheControl.maxAge == nil)
        #expect(head.contentEncoding == nil)
    }

    @Test func theBytesOfAllHeadsCount() {
        let lines = ["HTTP/1.1 100 Continue", "", "HTTP/1.1 200 OK", "A: b", ""]
        var head = ResponseHead()
        for line in lines { take(&head, line) }
        #expect(head.length == lines.reduce(0) { $0 + $1.utf8.count + 2 })
    }

    @Test func severalCacheControlLinesAddUp() {
        let head = head(
            "HTTP/1.1 200 OK", "Cache-Control: public", "Cache-Control: max-age=77, immutable")
        #expect(head.cacheControl.maxAge == 77)
    }

    @Test(arguments: [
        ("max-age=0", 0), ("max-age=99999999999999999999", Int64(Int32.max)), ("max-age=x", 0),
        ("max-age=-1", 0), ("max-age=", nil), ("max-age", nil), ("s-maxage=5", nil),
        ("x-max-age=5", nil), ("no-store", nil), (" , max-age=5", 5),
    ])
    func maxAgeIsANumberOrStale(line: String, expected: Int64?) {
        #expect(head("HTTP/1.1 200 OK", "Cache-Control: \(line)").cacheControl.maxAge == expected)
    }

    @Test(arguments: [
        (["HTTP/1.1 200 OK"], false), (["HTTP/1.1 200 OK", "Content-Length: 1"], true),
        (["HTTP/1.1 200 OK", "Transfer-Encoding: Chunked"], true),
        (["HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked"], true),
        (["HTTP/1.1 200 OK", "Transfer-Encoding: gzip"], false), (["HTTP/2 200"], true),
        (["HTTP/2 200 "], true), (["HTTP/3 200"], true), (["HTTP/1.0 200 OK"], false),
    ])
    func framingTellsWhetherTheEndIsVouchedFor(lines: [String], isFramed: Bool) {
        var head = ResponseHead()
        for line in lines { take(&head, line) }
        #expect(head.isFramed == isFramed)
        #expect(head.status == 200)
    }

    @Test(arguments: [
        ("identity", nil), ("Identity", nil), ("gzip", "gzip"), ("br", "br"),
    ])
    func identityIsNoEncoding(value: String, expected: String?) {
        let head = head("HTTP/1.1 200 OK", "Content-Encoding: \(value)")
        #expect(head.contentEncoding == expected)
    }

    @Test(arguments: [
        "x", "\"x", "x\"", "\"a b\"", "\"a\u{7F}\"", "w/\"x\"",
        "\"" + String(repeating: "x", count: 256) + "\"",
    ])
    func whatIsNoEntityTagOrTooLongIsNotKept(tag: String) {
        #expect(head("HTTP/1.1 200 OK", "ETag: \(tag)").storableEntityTag == nil)
    }

    @Test(arguments: ["", ":", "no colon", "HTTP/", "HTTP/1.1", "HTTP/1.1 x", ": value", "\u{0}"])
    func oddLinesAreHarmless(line: String) {
        let head = head("HTTP/1.1 200 OK", line)
        #expect(head.status == 200 || head.status == 0)
    }

    private func head(_ lines: String...) -> ResponseHead {
        var head = ResponseHead()
        for line in lines { take(&head, line) }
        return head
    }

    private func take(_ head: inout ResponseHead, _ line: String) {
        Array((line + "\r\n").utf8).withUnsafeBytes { head.take($0) }
    }
}

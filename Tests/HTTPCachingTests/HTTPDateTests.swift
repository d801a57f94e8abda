import CacheValues
import TestSupport
import Testing

@testable import HTTPCaching

@Suite("HTTP dates", .timeLimit(.minutes(5)))
struct HTTPDateTests {
    /// The examples of RFC 9110 §5.6.7, and the first and last times that a record can hold.
    static let readable: [(String, UInt32)] = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Wed Nov 16 08:49:37 1994", 784_975_777),
        ("THU, 18 AUG 2050 02:01:18 gmt", 2_544_400_878),
        ("Thursday, 18-Aug-50 02:01:18 GMT", 2_544_400_878),
        ("Thu Aug 18 02:01:18 2050", 2_544_400_878),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ("Wed, 31 Dec 1969 23:59:59 GMT", 0), ("Sun, 21 Nov 2286 04:46:39 GMT", UInt32.max),
        ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
    ]

    @Test(arguments: readable)
    func parsesThreeForms(text: String, seconds: UInt32) {
        #expect(HTTPDate.parse(text, now: Sample.now) == UnixTime(rawValue: seconds))
    }

    /// Chromium reads these too.
    @Test(
        arguments: [
            ("Thu, 18 Aug 2050 02:01:18 UTC", 2_544_400_878),
            ("Thu, 18 Aug 2050 02:01:18 +0000", 2_544_400_878),
            ("Thu, 18 Aug 2050 03:01:18 +0100", 2_544_400_878),
            ("Wed, 17 Aug 2050 21:31:18 -0430", 2_544_400_878),
            ("Thu, 18 Aug 50 02:01:18 GMT", 2_544_400_878),
            ("Thu 18 Aug 2050 02:01:18 GMT", 2_544_400_878),
            ("Thu, 18  Aug  2050 02:01:18 GMT", 2_544_400_878),
            ("Thu, 18-Aug-2050 02:01:18 GMT", 2_544_400_878),
            ("Thu, 18 Aug 2050 2:01:18 GMT", 2_544_400_878),
            ("Thu, 8 Aug 2050 02:01:18 GMT", 2_543_536_878),
            ("18 Aug 2050 02:01:18 GMT", 2_544_400_878),
            ("Thu, 18 Aug 2050 02:01:18", 2_544_400_878),
            ("Thu Aug 8 02:01:18 2050", 2_543_536_878),
            ("Thu, 18-Aug-50 02:01:18 GMT", 2_544_400_878),
            ("Thursday, 18-Aug-50 02:01:18", 2_544_400_878),
            ("2050-08-18T02:01:18Z", 2_544_400_878),
            ("2050-08-18T04:01:18.25+02:00", 2_544_400_878),
            ("2050-08-18 02:01:18", 2_544_400_878),
        ] as [(String, UInt32)])
    func parsesOtherForms(text: String, seconds: UInt32) {
        #expect(HTTPDate.parse(text, now: Sample.now) == UnixTime(rawValue: seconds))
    }

    @Test(arguments: [
        "", "0", "-1", "now", "1790000000", "Thu, 18 Aug 2050 02:01:18 AEST",
        "Thu, 18 Aug 2050 02.01.18 GMT", "Thu, 18 Aug 2050 24:01:18 GMT",
        "2050-13-18T02:01:18Z", "2050-08-18", "02:01:18", "Thu, 18 Aug 2050 02:01:18 +2400",
        "Thu, 18 Aug Sep 2050 02:01:18 GMT", "Thu, 18 Aug 2050 02:01:18 03:01:18 GMT",
        "Thu, 18 19 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 12050 02:01:18 GMT",
        "Thu, 18 Aug 2050 02:60:18 GMT", "Thu, 18 Aug 2050 02:01:61 GMT",
        "Thu, 00 Aug 2050 02:01:18 GMT", "Thu, 32 Aug 2050 02:01:18 GMT",
        "Thu, 31 Feb 2050 02:01:18 GMT", "Thu, 29 Feb 2051 02:01:18 GMT",
        "Thu, 31 Apr 2050 02:01:18 GMT", "Thu, 18 Foo 2050 02:01:18 GMT",
        "Foo, 18 Aug 2050 02:01:18 GMT",
        "Thu, 18 Aug 2050 02:01 GMT",
        "Thu, ١٨ Aug 2050 02:01:18 GMT",
    ])
    func rejectsAllOtherText(text: String) {
        #expect(HTTPDate.parse(text, now: Sample.now) == nil)
    }

    @Test func twoDigitYearsAreAtMostFiftyYearsAhead() {
        let early = HTTPDate.parse("Friday, 31-Dec-76 00:00:00 GMT", now: Sample.now)
        let late = HTTPDate.parse("Friday, 31-Dec-77 00:00:00 GMT", now: Sample.now)
        #expect(early == HTTPDate.parse("Thu, 31 Dec 2076 00:00:00 GMT", now: Sample.now))
        #expect(late == HTTPDate.parse("Fri, 31 Dec 1977 00:00:00 GMT", now: Sample.now))
    }

    @Test func parsesEveryFormattedDate() {
        #expect(HTTPDate.format(UnixTime(rawValue: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(UnixTime(rawValue: 0)) == "Thu, 01 Jan 1970 00:00:00 GMT")
        var random = SeededGenerator(seed: 4)
        for _ in 0..<5000 {
            let time = UnixTime(rawValue: UInt32.random(in: 0...UInt32.max, using: &random))
            #expect(HTTPDate.parse(HTTPDate.format(time), now: Sample.now) == time)
        }
    }

    /// gmtime(3) has another implementation of the calendar.
    @Test func formatsLikeTheSystem() {
        for day in stride(from: UInt32(0), to: 49_000, by: 1) {
            let written = HTTPDate.format(UnixTime(rawValue: day * 86400 + 3661))
            #expect(written == systemDate(day * 86400 + 3661))
        }
    }
}

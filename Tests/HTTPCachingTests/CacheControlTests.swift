import TestSupport
import Testing

@testable import HTTPCaching

@Suite("Cache-Control", .timeLimit(.minutes(5)))
struct CacheControlTests {
    @Test func directivesAreNamesWithOrWithoutArguments() {
        let found = Directive.list(#" ,no-store,MAX-Age=5 , x="a, \"b\", max-age=9" junk,, y= ,z"#)
        let expected = [
            Directive(name: "no-store", argument: nil), Directive(name: "max-age", argument: "5"),
            Directive(name: "x", argument: #"a, "b", max-age=9"#),
            Directive(name: "y", argument: ""), Directive(name: "z", argument: nil),
        ]
        #expect(found == expected)
    }

    @Test(arguments: [
        "", " ", ",", ", ,", "=", "=5", "\"", "x=\"", "x=\"\\", "\u{0}", "x=\"a\\\"b",
    ])
    func malformedListsHaveAtMostOneDirective(line: String) {
        #expect(Directive.list(line).count <= 1)
    }

    @Test func everyDirectiveOfRandomTextHasAName() {
        var random = SeededGenerator(seed: 3)
        let characters = Array("max-age=5,\" \\\ts\u{e9}=,")
        for _ in 0..<2000 {
            let line = String((0..<20).map { _ in characters.randomElement(using: &random)! })
            for directive in Directive.list(line) { #expect(!directive.name.isEmpty) }
        }
    }

    static let maxAges: [(String, Int64?)] = [
        ("max-age=0", 0), ("max-age=60", 60), ("max-age=\"60\"", 60), ("MaX-aGe=60", 60),
        ("max-age=003600", 3600), ("max-age=99999999999999999999", 1 << 31),
        ("max-age=2147483649", 1 << 31), ("max-age=x", 0), ("max-age=-1", 0), ("max-age=", 0),
        ("max-age", 0), ("max-age='3600'", 0), ("max-age=3600.0", 0), ("max-age=3600a", 0),
        ("max-age =3600", 0), ("max-age= 3600", 0), ("max-age=٣٦٠٠", 0), ("s-maxage=5", nil),
        ("x-max-age=5", nil), ("no-store", nil), (" , max-age=5", 5), ("max-age=5, max-age=9", 5),
        ("max-age=1, x=\"max-age=3600\"", 1), ("x=\"max-age=3600\", max-age=1", 1),
        ("max-age=5;public", 0),
    ]

    @Test(arguments: maxAges)
    func unreadableMaxAgeCountsAsZero(line: String, expected: Int64?) {
        #expect(ResponseHead.ok("Cache-Control: \(line)").cacheControl.maxAge == expected)
    }

    @Test func linesAddUpAndTheFirstOfTwoValuesCounts() {
        let control = ResponseHead.ok(
            "Cache-Control: s-maxage=7", "Cache-Control: max-age=77, immutable",
            "Cache-Control: max-age=1, stale-while-revalidate=8, s-maxage=9",
            "Cache-Control: stale-if-error=10"
        ).cacheControl
        #expect(control.maxAge == 77)
        #expect(control.sharedMaxAge == 7)
        #expect(control.staleWhileRevalidate == 8)
        #expect(control.staleIfError == 10)
    }

    @Test func unreadableNumbersCountAsZero() {
        let control = ResponseHead.ok(
            "Cache-Control: s-maxage, stale-while-revalidate=x, stale-if-error"
        ).cacheControl
        #expect(control.sharedMaxAge == 0)
        #expect(control.staleWhileRevalidate == 0)
        #expect(control.staleIfError == 0)
    }

    @Test func readsFlagsInAnyCase() {
        let none = ResponseHead.ok("Cache-Control: public").cacheControl
        #expect(none.isPresent)
        #expect(!none.isNoStore && !none.isNoCache && !none.isPrivate)
        #expect(!none.mustRevalidate && !none.proxyRevalidate && !none.mustUnderstand)
        let all = ResponseHead.ok(
            "Cache-Control: No-Store, NO-CACHE, private, must-revalidate",
            "Cache-Control: proxy-revalidate, must-understand"
        ).cacheControl
        #expect(all.isNoStore && all.isNoCache && all.isPrivate)
        #expect(all.mustRevalidate && all.proxyRevalidate && all.mustUnderstand)
        #expect(!ResponseHead.ok().cacheControl.isPresent)
    }

    @Test(arguments: ["no-cache=, private=", "no-cache=\"\", private =x"])
    func emptyFieldNamesConcernTheWholeResponse(line: String) {
        let control = ResponseHead.ok("Cache-Control: \(line)").cacheControl
        #expect(control.isNoCache && control.isPrivate)
    }

    @Test func fieldNamesNarrowNoCacheAndPrivateToThoseFields() {
        let control = ResponseHead.ok("Cache-Control: no-cache=\"a, b\", private=\"c\"")
            .cacheControl
        #expect(!control.isNoCache)
        #expect(!control.isPrivate)
    }
}

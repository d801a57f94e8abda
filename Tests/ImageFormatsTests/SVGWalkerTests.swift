import ImageFormats
import ImageSamples
import Testing

@Suite("SVG")
struct SVGWalkerTests {
    @Test(arguments: [
        "<!DOCTYPE html><svg></svg>", "<!doctype HTML>\n<svg></svg>", "<html><svg></svg></html>",
        "<svgz></svgz>", "text <svg></svg>", "<?xml version='1.0'?><rss></rss>", "</svg><svg>",
        "<svg:g></svg:g>", "<svg:></svg:>", "<svg:svgz></svg:svgz>",
        "<!DOCTYPE svg [<!-- > ]-->]><html></html>", "<!DOCTYPE svg [<?a ]>?>]><html></html>",
        "<!-- <svg></svg> -->", "<![CDATA[<svg>]]><svg></svg>",
    ])
    func otherMarkupIsNotSVG(_ content: String) {
        for feeding in Feeding.all { #expect(inspect(text(content), feeding) == .notAnImage) }
    }

    @Test func rootMustStartWithinFourKibibytes() {
        let near = String(repeating: " ", count: 4_090) + "<svg></svg>"
        #expect(inspect(text(near)).mediaType == .svg)
        #expect(inspect(text(" " + near)).mediaType == .svg)
        #expect(inspect(text("  " + near)) == .notAnImage)
    }

    @Test(arguments: ["\n", "<!-- made by hand -->\n", "<?done?>", " <!-- </svg> --> "])
    func commentsAfterTheRootAreNotTrailing(_ content: String) {
        #expect(inspect(ImageSample.svg.bytes + text(content)) == ImageSample.svg.report)
    }

    @Test(arguments: ["x", "<svg/>", "</svg>"])
    func anythingElseAfterTheRootIsTrailing(_ content: String) {
        let report = inspect(ImageSample.svg.bytes + text(content))
        #expect(report == .init(.svg, nil, nil, .whole, trailing: true))
    }

    @Test func endOfAnInnerElementIsNotTheEnd() {
        #expect(inspect(text("<svg><svg></svg>")) == .init(.svg, nil, nil, .empty))
    }
}

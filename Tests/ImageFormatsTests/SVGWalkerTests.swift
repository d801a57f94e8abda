import ImageFormats
import ImageSamples
import Testing

@Suite("SVG")
struct SVGWalkerTests {
    @Test(arguments: [
        "<!doctype HTML>\n<svg></svg>", "<!ELEMENT svg ANY><svg></svg>", "<html><svg></svg></html>",
        "<!DOCTYPE html><html><svg></svg></html>",
        "<svgz></svgz>", "text <svg></svg>", "<?xml version='1.0'?><rss></rss>", "</svg><svg>",
        "<svg:g></svg:g>", "<svg:></svg:>", "<svg:svgz></svg:svgz>",
        "<!DOCTYPE svg [<!-- > ]-->]><html></html>", "<!DOCTYPE svg [<?a ]>?>]><html></html>",
        "<!-- <svg></svg> -->", "<![CDATA[<svg>]]><svg></svg>",
    ])
    func otherMarkupIsNotSVG(_ content: String) {
        for feeding in Feeding.all { #expect(inspect(text(content), feeding) == .notAnImage) }
    }

    @Test(arguments: [
        "<!DOCTYPE html>", "<!DOCTYPE HTML>\n", "<!DOCTYPE html PUBLIC '-//' \"<svg>\">",
    ])
    func rootDecidesAndNotTheDocumentType(_ documentType: String) {
        let bytes = text(documentType) + ImageSample.svg.bytes
        #expect(inspect(bytes) == ImageSample.svg.report)
    }

    @Test func rootMustStartWithin64Kibibytes() {
        let near = "<!--" + String(repeating: "x", count: 65_523) + "--><svg></svg>"
        for feeding in [Feeding.whole, .byteByByte] {
            #expect(inspect(text(near), feeding).mediaType == .svg)
            #expect(inspect(text(" " + near), feeding).mediaType == .svg)
            #expect(inspect(text("  " + near), feeding) == .notAnImage)
        }
    }

    @Test(arguments: [false, true])
    func utf16NeedsAByteOrderMark(_ isBigEndian: Bool) {
        let content = "<?xml version='1.0' encoding='UTF-16'?><svg><!-- \u{3E3E} --><g/></svg>\n"
        let bytes = ImageSample.utf16(content, isBigEndian: isBigEndian)
        for feeding in Feeding.all {
            #expect(inspect(bytes, feeding) == ImageSample.svg.report)
            #expect(inspect(bytes.dropFirst(2), feeding) == .notAnImage)
        }
        #expect(inspect(bytes.dropLast(4)).completeness == .empty)
        let trailing = ImageSample.utf16(content + "x", isBigEndian: isBigEndian)
        #expect(inspect(trailing).completeness == .malformed)
        let other = ImageSample.utf16("<html></html>", isBigEndian: isBigEndian)
        #expect(inspect(other) == .notAnImage)
    }

    @Test(arguments: ["\n", "<!-- made by hand -->\n", "<?done?>", " <!-- </svg> --> "])
    func commentsAfterTheRootAreNotTrailing(_ content: String) {
        #expect(inspect(ImageSample.svg.bytes + text(content)) == ImageSample.svg.report)
    }

    @Test(arguments: [
        "x", "<svg/>", "</svg>", "\0", "&#32;", "<![CDATA[ ]]>", "<!DOCTYPE svg>", "<!-- a --> x",
        "\u{FEFF}",
        "<!ELEMENT svg ANY>",
    ])
    func anythingElseAfterTheRootIsMalformed(_ content: String) {
        for feeding in Feeding.all {
            let report = inspect(ImageSample.svg.bytes + text(content), feeding)
            #expect(report == .init(.svg, nil, nil, .malformed))
        }
    }

    @Test(arguments: ["<", "<!", "<!-- abc", "<!-- abc --", "<?abc", "<?abc?"])
    func markupAfterTheRootHasToEnd(_ content: String) {
        let report = inspect(ImageSample.svg.bytes + text(content))
        #expect(report == .init(.svg, nil, nil, .empty))
    }

    @Test func endOfAnInnerElementIsNotTheEnd() {
        #expect(inspect(text("<svg><svg></svg>")) == .init(.svg, nil, nil, .empty))
    }
}

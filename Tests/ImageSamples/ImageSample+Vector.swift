internal import ImageFormats

extension ImageSample {
    package static let svg = ImageSample("svg", .svg, nil, nil, text("<svg xmlns='x'><g/></svg>"))

    /// A file with text that looks like tags in comments, strings, CDATA and a document type, and with a nested
    /// `svg`.
    package static let svgFull = ImageSample(
        "svg with prolog", .svg, nil, nil,
        text(
            """
            \u{FEFF}<?xml version="1.0"?>
            <!-- <html> -- > -->
            <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN>" [<!ENTITY a "<b>">]>
            <svg a=">" b='/>'><style><![CDATA[ </svg> ]] ]]></style>
            <svg><g a="/"></g></svg><!-- </svg> --><path d="M0 0"/></svg>
            """))

    package static let svgEmpty = ImageSample("svg empty", .svg, nil, nil, text("<svg/>"))

    package static let svgPrefixed = ImageSample(
        "svg with a prefix", .svg, nil, nil,
        text("<ns0:svg xmlns:ns0='http://www.w3.org/2000/svg'><ns0:g/></ns0:svg>"))

    /// A file with text that looks like the start of a string or the end of the document type.
    package static let svgSubset = ImageSample(
        "svg with an internal subset", .svg, nil, nil,
        text(
            """
            <!DOCTYPE svg [ <!-- it's > ]> --> <?it's ]>?> <!ENTITY a "<!-- ">
            <!ELEMENT b (c)*> <!-- " --><!ATTLIST d e CDATA '<?'> %f; ] >
            <svg><!-- it's --><?it's?></svg>
            """))

    package static let svgUTF16 = ImageSample(
        "svg in UTF-16", .svg, nil, nil, utf16("<!-- \u{2013} --><svg a='\u{3C3C}'><g/></svg>"))

    /// UTF-16 with a byte order mark.
    package static func utf16(_ content: String, isBigEndian: Bool = false) -> Bytes {
        "\u{FEFF}\(content)".utf16.flatMap { unit in
            isBigEndian ? big16(Int(unit)) : little16(Int(unit))
        }
    }

    package static let vector = [svg, svgFull, svgEmpty, svgPrefixed, svgSubset, svgUTF16]
}

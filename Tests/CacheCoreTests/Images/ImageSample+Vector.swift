import CacheCore

extension ImageSample {
    static let svg = ImageSample("svg", .svg, nil, nil, text("<svg xmlns='x'><g/></svg>"))

    /// What looks like tags in comments, strings, CDATA and a document type, and a nested `svg`.
    static let svgFull = ImageSample(
        "svg with prolog", .svg, nil, nil,
        text(
            """
            \u{FEFF}<?xml version="1.0"?>
            <!-- <html> -- > -->
            <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN>" [<!ENTITY a "<b>">]>
            <svg a=">" b='/>'><style><![CDATA[ </svg> ]] ]]></style>
            <svg><g a="/"></g></svg><!-- </svg> --><path d="M0 0"/></svg>
            """))

    static let svgEmpty = ImageSample("svg empty", .svg, nil, nil, text("<svg/>"))

    static let vector = [svg, svgFull, svgEmpty]
}

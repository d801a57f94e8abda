import Glibc

/// What a terminal can show.
struct TerminalCapabilities: Hashable {
    enum Colors: Hashable {
        case none
        /// Those of ECMA-48 and their bright variants, which the terminal's theme chooses.
        case sixteen
        /// 24 bits.
        case direct
    }

    /// Box characters, blocks and braille, else ASCII.
    var isUnicode: Bool
    var colors: Colors

    /// Stands where text was cut out.
    var ellipsis: String { isUnicode ? "…" : "..." }
}

extension TerminalCapabilities {
    /// The variables that decide.
    static let variables = ["TERM", "COLORTERM", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"]

    /// The look for a terminal with this environment: the locale decides about characters
    /// (locale(7)), `NO_COLOR` with any value about colour (no-color.org), `COLORTERM` about 24 bits
    /// of it.
    ///
    /// - Parameter isPlain: nothing but ASCII was asked for.
    init(environment: [String: String], isPlain: Bool = false) {
        let isDumb = environment["TERM"] == "dumb"
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy
            .compactMap { environment[$0] }
            .first { !$0.isEmpty }
        let name = (locale ?? "").lowercased()
        let isUTF8 = name.contains("utf-8") || name.contains("utf8")
        isUnicode = isUTF8 && !isDumb && !isPlain
        if isDumb || !(environment["NO_COLOR"] ?? "").isEmpty {
            colors = .none
        } else {
            let isDirect = ["truecolor", "24bit"].contains(environment["COLORTERM"])
            colors = isDirect ? .direct : .sixteen
        }
    }
}

extension TerminalCapabilities {
    /// The variables that decide how to draw. getenv(3).
    static func environment() -> [String: String] {
        var values: [String: String] = [:]
        for name in variables {
            values[name] = getenv(name).map { String(cString: $0) }
        }
        return values
    }
}

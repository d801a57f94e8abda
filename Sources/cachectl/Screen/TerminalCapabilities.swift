import Glibc

/// The characters and colors that a terminal can show.
struct TerminalCapabilities: Hashable {
    enum Colors: Hashable {
        case none
        /// The colors of ECMA-48 and their bright variants. The terminal's theme defines them.
        case sixteen
        /// 24-bit colors.
        case direct
    }

    /// Whether the terminal can show box characters, blocks and braille. If not, only ASCII is
    /// used.
    var isUnicode: Bool
    var colors: Colors

    /// Marks a place at which text was cut.
    var ellipsis: String { isUnicode ? "…" : "..." }
}

extension TerminalCapabilities {
    /// The environment variables that determine the capabilities.
    static let variables = ["TERM", "COLORTERM", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"]

    /// Derives the capabilities from environment variables. The locale determines the characters
    /// (locale(7)). `NO_COLOR` with any value turns colors off (no-color.org). `COLORTERM`
    /// announces 24-bit colors.
    ///
    /// - Parameters:
    ///   - environment: the values of ``variables``.
    ///   - isPlain: whether to use only ASCII, whatever the locale says.
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
    /// Those that the environment of this process describes.
    static var ofEnvironment: TerminalCapabilities {
        TerminalCapabilities(environment: environment())
    }

    /// The current values of ``variables``. getenv(3).
    static func environment() -> [String: String] {
        var values: [String: String] = [:]
        for name in variables {
            values[name] = getenv(name).map { String(cString: $0) }
        }
        return values
    }
}

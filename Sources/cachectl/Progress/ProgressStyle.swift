/// How the display looks on this terminal.
struct ProgressStyle: Hashable {
    /// Bars are drawn with box characters, else with ASCII.
    var isUnicode: Bool
    /// The part that is done has a colour.
    var hasColor: Bool

    var filled: String { isUnicode ? "━" : "#" }
    var empty: String { isUnicode ? "─" : "-" }
    /// Stands where text was cut off.
    var ellipsis: String { isUnicode ? "…" : "..." }

    /// `text` in the colour of what is done (ECMA-48, Select Graphic Rendition).
    func done(_ text: String) -> String {
        hasColor && !text.isEmpty ? "\u{1B}[32m\(text)\u{1B}[0m" : text
    }
}

extension ProgressStyle {
    /// The style for a terminal with this environment: the locale decides about characters
    /// (locale(7)), `NO_COLOR` with any value about colour (no-color.org).
    init(environment: [String: String]) {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy
            .compactMap { environment[$0] }
            .first { !$0.isEmpty }
        let name = (locale ?? "").lowercased()
        isUnicode = name.contains("utf-8") || name.contains("utf8")
        hasColor = (environment["NO_COLOR"] ?? "").isEmpty
    }
}

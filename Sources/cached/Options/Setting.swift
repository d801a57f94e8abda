import CacheWire

/// A row of the table of settings: everything that the daemon and its documents know about a setting.
struct Setting: Sendable {
    /// The name in the environment and in the configuration file, such as `CACHED_MAX_BYTES`.
    let name: String
    /// The word that stands for the value, such as `SIZE`.
    let placeholder: String
    /// The permitted values, if they are few.
    let words: [String]
    /// The text between the values of a list; `nil` if there is one value.
    let separator: String?
    /// The default as the configuration file could contain it. `nil` if the setting is off by default, or if the
    /// default depends on something else.
    let defaultText: String?
    /// The default in words, if there is no text of it.
    let otherwise: String
    /// Whether a new value counts only after a restart. A reload applies all other settings.
    let needsRestart: Bool
    /// Sentences about the setting.
    let help: String
    /// The value in force, if that can be another than the text.
    let inForce: (@Sendable (Settings) -> String)?
    /// Interprets a text, and sets its meaning.
    let apply: @Sendable (inout Settings, String) throws(WrongValue) -> Void

    init<Value>(
        _ name: String, _ kind: SettingKind<Value>, default defaultText: String? = nil,
        otherwise: String = "none", restart needsRestart: Bool = false, _ help: String,
        inForce: (@Sendable (Settings) -> String)? = nil,
        set: @escaping @Sendable (inout Settings, Value) -> Void
    ) {
        self.name = name
        (placeholder, words, separator) = (kind.placeholder, kind.words, kind.separator)
        (self.defaultText, self.otherwise) = (defaultText, otherwise)
        (self.needsRestart, self.help, self.inForce) = (needsRestart, help, inForce)
        apply = { (settings, text) throws(WrongValue) in set(&settings, try kind.parse(text)) }
    }

    /// The name of the option, without its dashes.
    var option: String {
        name.split(separator: "_").dropFirst().joined(separator: "-").lowercased()
    }

    /// Sentences about the default, and about the form of a list.
    var notes: String {
        let mark = separator == "," ? "commas" : "spaces"
        let list = separator.map { _ in
            "Several values have \(mark) between them; the option can also be repeated. "
        }
        return "\(list ?? "")Default: \(defaultText ?? otherwise)."
    }

    // MARK: Names

    /// The rows of all sections, in the order of the documents.
    static let all = sections.flatMap(\.rows)
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The row with a name; `nil` if there is none.
    static func named(_ name: String) -> Setting? { byName[name] }

    /// Whether a name has the prefix of our settings and is not one of them.
    static func isUnknown(_ name: String) -> Bool {
        name.hasPrefix("CACHED_") && byName[name] == nil
    }

    /// The name that a wrong one most likely stands for.
    static func nearest(to name: String) -> String { name.nearest(of: all.map(\.name)) ?? "" }
}

import ArgumentParser

/// The options as they were typed: `--config`, and one for each row of the table of settings. ``Settings`` interprets
/// them.
struct DaemonOptions: ParsableArguments, CustomReflectable {
    /// The path of the configuration file.
    var config: String?
    /// The texts of the settings, by their names. Those of a list are one text.
    var values: [String: String] = [:]

    init() {}

    init(from decoder: any Decoder) throws {
        let options = try decoder.container(keyedBy: OptionName.self)
        config = try options.decode(Option<String?>.self, forKey: Self.file).wrappedValue
        for setting in Setting.all {
            let name = OptionName(stringValue: setting.option)
            if let separator = setting.separator {
                let texts = try options.decode(Option<[String]>.self, forKey: name).wrappedValue
                if !texts.isEmpty { values[setting.name] = texts.joined(separator: separator) }
            } else {
                values[setting.name] =
                    try options.decode(Option<String?>.self, forKey: name).wrappedValue
            }
        }
    }

    /// ArgumentParser looks for options among the children of the mirror.
    var customMirror: Mirror {
        let file = Option<String?>(
            name: .long,
            help: ArgumentHelp(
                """
                The configuration file, with lines like CACHED_ALLOW_NETWORK=10.0.0.0/8 \
                (~/.config/cached/cached.conf by default, or /etc/cached/cached.conf if that does \
                not exist). Files PATH.d/*.conf override it.
                """, valueName: "file"), completion: .file())
        let options = Setting.all.map { (label: String?.some($0.option), value: $0.declaration) }
        return Mirror(self, children: [(Self.file.stringValue, file)] + options)
    }

    private static let file = OptionName(stringValue: "config")

    /// The name of an option, without its dashes.
    private struct OptionName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension Setting {
    /// The option as ArgumentParser knows it.
    fileprivate var declaration: Any {
        let help = ArgumentHelp(
            "\(help) \(notes) (\(name))", valueName: placeholder.lowercased())
        let completion = words.isEmpty ? nil : CompletionKind.list(words)
        guard separator != nil else {
            return Option<String?>(
                name: .customLong(option), help: help, completion: completion)
        }
        return Option<[String]>(
            wrappedValue: [], name: .customLong(option), help: help, completion: completion)
    }
}

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
        config = try options.decode(OptionGroup<ConfigOption>.self, forKey: Self.startName)
            .wrappedValue.config
        for section in Self.sections { values.merge(try section.values(options)) { $1 } }
    }

    /// ArgumentParser looks for options among the children of the mirror.
    var customMirror: Mirror {
        let start = OptionGroup<ConfigOption>(title: Self.start)
        let sections = Self.sections.map { (label: String?.some($0.name), value: $0.declaration) }
        return Mirror(self, children: [(Self.startName.stringValue, start)] + sections)
    }

    /// The title of the options that stand first in the help.
    static let start = "Start here"
    private static let startName = OptionName(stringValue: "start")
    private static let sections = [
        Section(SectionOptions<0>.self), Section(SectionOptions<1>.self),
        Section(SectionOptions<2>.self), Section(SectionOptions<3>.self),
        Section(SectionOptions<4>.self), Section(SectionOptions<5>.self),
        Section(SectionOptions<6>.self), Section(SectionOptions<7>.self),
    ]

    private struct ConfigOption: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                """
                The configuration file, with lines like CACHED_ALLOW_NETWORK=10.0.0.0/8 \
                (~/.config/cached/cached.conf by default, or /etc/cached/cached.conf if that does \
                not exist). Files PATH.d/*.conf override it.
                """, valueName: "file"), completion: .file())
        var config: String?
    }
}

/// The name of an option, without its dashes, or that of a section.
private struct OptionName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// A section of the table, as a group of options that has a title in the help.
private struct Section: Sendable {
    let name: String
    let declaration: any Sendable
    let values: @Sendable (KeyedDecodingContainer<OptionName>) throws -> [String: String]

    init<let number: Int>(_: SectionOptions<number>.Type) {
        let name = "section\(number)"
        self.name = name
        declaration = OptionGroup<SectionOptions<number>>(title: Setting.sections[number].title)
        values = { options in
            let key = OptionName(stringValue: name)
            return try options.decode(OptionGroup<SectionOptions<number>>.self, forKey: key)
                .wrappedValue.values
        }
    }
}

/// The options of a section of the table.
private struct SectionOptions<let number: Int>: ParsableArguments, CustomReflectable {
    var values: [String: String] = [:]

    init() {}

    init(from decoder: any Decoder) throws {
        let options = try decoder.container(keyedBy: OptionName.self)
        for setting in Setting.sections[number].rows {
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

    var customMirror: Mirror {
        let options = Setting.sections[number].rows.map {
            (label: String?.some($0.option), value: $0.declaration)
        }
        return Mirror(self, children: options)
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

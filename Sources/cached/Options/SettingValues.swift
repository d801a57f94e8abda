/// The values of all settings as texts, each with its source. ``Settings`` interprets them.
///
/// An option overrides the environment, the environment overrides the files, a later file overrides an earlier one,
/// and all of them override the default.
struct SettingValues: Sendable {
    struct Value: Hashable, Sendable {
        let text: String
        let source: SettingSource
    }

    private var table: [String: Value] = [:]

    /// - Throws: `StartFailure` for a name that is no setting.
    init(
        options: [String: String], environment: [String: String], files: [ConfigurationFile]
    ) throws {
        if let name = Self.unknownVariables(environment).first {
            throw StartFailure.unknown(name, in: "the environment")
        }
        for file in files { try add(file) }
        for setting in Setting.all {
            if let text = options[setting.name] {
                // Most likely a script has an empty variable there.
                guard !text.isEmpty else {
                    throw StartFailure.configuration(
                        "--\(setting.option) is empty; give it a value or leave it out")
                }
                table[setting.name] = Value(text: text, source: .option)
                // An empty variable counts as not set, so that a service manager can clear one.
            } else if let text = environment[setting.name], !text.isEmpty {
                table[setting.name] = Value(text: text, source: .environment)
            }
        }
        // A group that was chosen is let in, unless the permissions say something else.
        if table["CACHED_SOCKET_GROUP"] != nil, table["CACHED_SOCKET_MODE"] == nil {
            table["CACHED_SOCKET_MODE"] = Value(text: "660", source: .builtIn)
        }
    }

    /// Variables that have the prefix of our settings and are none. Clients read CACHED_START, which a daemon inherits.
    static func unknownVariables(_ environment: [String: String]) -> [String] {
        environment.keys.filter { Setting.isUnknown($0) && $0 != "CACHED_START" }.sorted()
    }

    /// An empty value takes back that of an earlier file.
    private mutating func add(_ file: ConfigurationFile) throws {
        for line in file.lines {
            guard Setting.named(line.name) != nil else {
                guard Setting.isUnknown(line.name) else { continue }
                throw StartFailure.unknown(line.name, in: "\(file.path):\(line.number)")
            }
            let source = SettingSource.file(path: file.path, line: line.number)
            table[line.name] = line.value.isEmpty ? nil : Value(text: line.value, source: source)
        }
    }

    /// The value of a setting and its source; the default if nothing sets it. `nil` if there is no default text.
    subscript(name: String) -> Value? {
        guard let setting = Setting.named(name) else { preconditionFailure("no setting \(name)") }
        return table[name] ?? setting.defaultText.map { Value(text: $0, source: .builtIn) }
    }

    /// A failure that says where a setting has a wrong value.
    func bad(_ name: String, _ wrong: WrongValue) -> StartFailure {
        let value = wrong.shown ?? self[name]?.text ?? ""
        return .configuration("\(place(of: name)) is \"\(value)\", not \(wrong.expected)")
    }

    /// The setting, by the name that it has where its value comes from.
    func place(of name: String) -> String {
        switch self[name]?.source ?? .builtIn {
        case .file(let path, let line): "\(path):\(line): \(name)"
        case .environment: "\(name) in the environment"
        case .option, .builtIn: "--\(Setting.named(name)?.option ?? name) (\(name))"
        }
    }
}

extension SettingValues {
    /// The names of the settings whose values differ.
    func differences(from other: SettingValues) -> [String] {
        Setting.all.map(\.name).filter { self[$0]?.text != other[$0]?.text }
    }

    /// The same values, with those that need a restart taken from `other`.
    func keeping(_ other: SettingValues) -> SettingValues {
        var result = self
        for setting in Setting.all where setting.needsRestart {
            result.table[setting.name] = other.table[setting.name]
        }
        return result
    }
}

extension StartFailure {
    static func unknown(_ name: String, in place: String) -> StartFailure {
        .configuration(
            "\(place) sets \(name), which is not a setting; did you mean \(Setting.nearest(to: name))?"
        )
    }
}

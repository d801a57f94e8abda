/// The values of all settings as texts, each with its source. ``Settings`` interprets them.
///
/// An option overrides the environment, the environment overrides the files, a later file overrides an earlier one,
/// and all of them override the default.
struct SettingValues: Sendable {
    struct Value: Hashable, Sendable {
        let text: String
        let source: SettingSource
    }

    private var table: [SettingName: Value] = [:]

    /// - Throws: `StartFailure` for a name that is no setting.
    init(
        options: [SettingName: String], environment: [String: String], files: [ConfigurationFile]
    ) throws {
        for name in environment.keys.sorted() where SettingName.isUnknown(name) {
            throw StartFailure.unknown(name, in: "the environment")
        }
        for file in files { try add(file) }
        for name in SettingName.allCases {
            if let text = options[name] {
                // Most likely a script has an empty variable there.
                guard !text.isEmpty else {
                    throw StartFailure.configuration(
                        "--\(name.option) is empty; give it a value or leave it out")
                }
                table[name] = Value(text: text, source: .option)
                // An empty variable counts as not set, so that a service manager can clear one.
            } else if let text = environment[name.rawValue], !text.isEmpty {
                table[name] = Value(text: text, source: .environment)
            }
        }
        // A group that was chosen is let in, unless the permissions say something else.
        if table[.socketGroup] != nil, table[.socketMode] == nil {
            table[.socketMode] = Value(text: "660", source: .builtIn)
        }
    }

    /// An empty value takes back that of an earlier file.
    private mutating func add(_ file: ConfigurationFile) throws {
        for line in file.lines {
            guard let name = SettingName(rawValue: line.name) else {
                guard SettingName.isUnknown(line.name) else { continue }
                throw StartFailure.unknown(line.name, in: "\(file.path):\(line.number)")
            }
            let source = SettingSource.file(path: file.path, line: line.number)
            table[name] = line.value.isEmpty ? nil : Value(text: line.value, source: source)
        }
    }

    /// The value and its source; the default if nothing sets it. `nil` if there is no default text.
    subscript(name: SettingName) -> Value? {
        table[name] ?? name.defaultText.map { Value(text: $0, source: .builtIn) }
    }

    /// The value; `nil` if the setting has neither a value nor a default text.
    func text(_ name: SettingName) -> String? { self[name]?.text }

    /// The values of a list, which commas separate.
    func list(_ name: SettingName) -> [String] {
        (text(name) ?? "").split(separator: ",").map { String($0).trimmed }
    }

    /// A failure that says where a setting has a wrong value.
    ///
    /// - Parameter shown: the value as it may be shown, if it can hold a secret.
    func bad(_ name: SettingName, _ expected: String, shown: String? = nil) -> StartFailure {
        let value = shown ?? text(name) ?? ""
        return .configuration("\(place(of: name)) is \"\(value)\", not \(expected)")
    }

    /// The setting, by the name that it has where its value comes from.
    func place(of name: SettingName) -> String {
        switch self[name]?.source ?? .builtIn {
        case .file(let path, let line): "\(path):\(line): \(name.rawValue)"
        case .environment: "\(name.rawValue) in the environment"
        case .option, .builtIn: "--\(name.option) (\(name.rawValue))"
        }
    }
}

extension SettingValues {
    /// The settings whose values differ.
    func differences(from other: SettingValues) -> [SettingName] {
        SettingName.allCases.filter { text($0) != other.text($0) }
    }

    /// The same values, with those of some settings taken from `other`.
    func keeping(_ names: [SettingName], of other: SettingValues) -> SettingValues {
        var result = self
        for name in names { result.table[name] = other.table[name] }
        return result
    }
}

extension StartFailure {
    fileprivate static func unknown(_ name: String, in place: String) -> StartFailure {
        let nearest = SettingName.nearest(to: name).rawValue
        return .configuration(
            "\(place) sets \(name), which is not a setting; did you mean \(nearest)?")
    }
}

import CacheWire

/// The answers of `--check-config` and `--print-config`.
struct SettingsReport {
    /// A setting, its value in force, and where the value comes from. A setting that is off has an empty value.
    private struct Row: JSONWritable {
        let name: String
        let value: String
        let source: SettingSource

        var line: String { "\(name)=\(value)" }

        func write(to json: inout JSONText) {
            json.object { json in
                json.member("value", value)
                json.member("source", source.description)
            }
        }
    }

    let settings: Settings

    /// The files that were read.
    var summary: String {
        let files = settings.files.isEmpty ? "no file" : settings.files.joined(separator: ", ")
        return "the configuration is valid (\(files))"
    }

    private var rows: [Row] {
        Setting.all.map { setting in
            let value = settings.values[setting.name]
            return Row(
                name: setting.name, value: setting.inForce?(settings) ?? value?.text ?? "",
                source: value?.source ?? .builtIn)
        }
    }

    /// One line for each setting.
    var lines: [String] {
        let width = rows.map(\.line.count).filter { $0 <= Self.widest }.max() ?? 0
        return rows.map { row in
            row.line + String(repeating: " ", count: max(0, width - row.line.count))
                + "  # \(row.source)"
        }
    }

    /// One object, with a member for each setting.
    var json: String {
        var json = JSONText()
        json.object { json in
            for row in rows { json.member(row.name, row) }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Longer values have their source right behind them, so that one of them does not widen all lines.
    private static let widest = 60
}

/// The answers of `--check-config` and `--print-config`.
struct SettingsReport {
    let settings: Settings

    /// The files that were read.
    var summary: String {
        let files = settings.files.isEmpty ? "no file" : settings.files.joined(separator: ", ")
        return "the configuration is valid (\(files))"
    }

    /// One line for each setting: its name, the value in force, and where the value comes from. A setting that is off
    /// has an empty value.
    var lines: [String] {
        let rows = Setting.all.map { setting in
            let value = settings.values[setting.name]
            let text = setting.inForce?(settings) ?? value?.text ?? ""
            return ("\(setting.name)=\(text)", value?.source ?? .builtIn)
        }
        let width = rows.map(\.0.count).filter { $0 <= Self.widest }.max() ?? 0
        return rows.map { line, source in
            line + String(repeating: " ", count: max(0, width - line.count)) + "  # \(source)"
        }
    }

    /// Longer values have their source right behind them, so that one of them does not widen all lines.
    private static let widest = 60
}

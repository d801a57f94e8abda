import CacheCore
import HTTPCaching

/// The answers of `--check-config` and `--print-config`.
struct SettingsReport {
    let settings: Settings

    /// The files that were read.
    var summary: String {
        let files = settings.files.isEmpty ? "no file" : settings.files.joined(separator: ", ")
        return "the configuration is valid (\(files))"
    }

    /// One line for each setting: its name, its value, and where the value comes from. A setting that is off has an
    /// empty value.
    var lines: [String] {
        let rows = SettingName.allCases.map { name in
            ("\(name.rawValue)=\(value(of: name))", settings.values[name]?.source ?? .builtIn)
        }
        let width = rows.map(\.0.count).filter { $0 <= Self.widest }.max() ?? 0
        return rows.map { line, source in
            line + String(repeating: " ", count: max(0, width - line.count)) + "  # \(source)"
        }
    }

    /// Longer values have their source right behind them, so that one of them does not widen all lines.
    private static let widest = 60

    /// The value that is in force, even if it depends on the machine.
    private func value(of name: SettingName) -> String {
        switch name {
        case .directory: settings.cache.directory
        case .socket: settings.socket
        case .shared: settings.cache.transfers.caching.isShared ? "yes" : "no"
        case .userAgent: settings.cache.transfers.userAgent
        case .logFormat: settings.log.format.rawValue
        default: settings.values.text(name) ?? ""
        }
    }
}

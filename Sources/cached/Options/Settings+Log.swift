import Logging

extension Settings {
    static func log(_ values: SettingValues) throws -> LogSettings {
        guard let level = values.text(.logLevel).flatMap({ Logger.Level(rawValue: $0) }) else {
            throw values.bad(.logLevel, "one of trace, debug, info, notice, warning, error")
        }
        guard let text = values.text(.logFormat),
            let format = text == "auto" ? LogFormat.usual : LogFormat(rawValue: text)
        else {
            throw values.bad(.logFormat, "auto, text, journal or json")
        }
        return LogSettings(
            level: level, format: format, showsQueries: try answer(.logQueries, values) ?? false)
    }
}

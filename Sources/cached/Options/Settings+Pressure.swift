import CacheWire
import Configuration

/// The settings about memory pressure.
extension Settings {
    /// The longest cool-down accepted: a whole day without a second reaction is surely a mistake.
    private static let longestCoolDown = Duration.seconds(86_400)

    static func pressure(
        _ options: PressureOptions, _ reader: ConfigReader
    ) throws -> PressureSettings {
        var pressure = PressureSettings()
        if let text = options.pressureWarning ?? reader.string(.pressureWarning) {
            pressure.warning = try trigger(text, .warning, .pressureWarning)
        }
        if let text = options.pressureCritical ?? reader.string(.pressureCritical) {
            pressure.critical = try trigger(text, .critical, .pressureCritical)
        }
        if let text = options.pressureWarningKeep ?? reader.string(.pressureWarningKeep) {
            pressure.warningKeep = try share(text, .pressureWarningKeep)
        }
        if let text = options.pressureCriticalKeep ?? reader.string(.pressureCriticalKeep) {
            pressure.criticalKeep = try share(text, .pressureCriticalKeep)
        }
        if let text = options.pressureEvicts ?? reader.string(.pressureEvicts) {
            guard let eviction = PressureEviction(rawValue: text) else {
                throw bad(.pressureEvicts, text, "auto, always or never")
            }
            pressure.evicts = eviction
        }
        if let text = options.pressureCoolDown ?? reader.string(.pressureCoolDown) {
            pressure.coolDown = try coolDown(text)
        }
        return pressure
    }

    private static func trigger(
        _ text: String, _ level: PressureLevel, _ name: SettingName
    ) throws -> PressureTrigger {
        guard let trigger = PressureTrigger(line: Array(text.utf8), level: level) else {
            let expected = """
                some or full, then the stall and its window in microseconds, the window from \
                500000 to 10000000
                """
            throw bad(name, text, expected)
        }
        return trigger
    }

    private static func share(_ text: String, _ name: SettingName) throws -> Double {
        guard let percentage = Percentage(text) else {
            throw bad(name, text, "a share from 0% to 100%")
        }
        return percentage.share
    }

    private static func coolDown(_ text: String) throws -> Duration {
        guard let span = TimeSpan(text), span.duration <= longestCoolDown else {
            throw bad(.pressureCoolDown, text, "a time like 500ms, 10s or 5min, at most 24h")
        }
        return span.duration
    }
}

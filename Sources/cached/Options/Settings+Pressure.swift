import CacheWire

/// The settings about memory pressure.
extension Settings {
    /// The longest cool-down accepted: a whole day without a second reaction is surely a mistake.
    private static let longestCoolDown = Duration.seconds(86_400)

    static func pressure(_ values: SettingValues) throws -> PressureSettings {
        var pressure = PressureSettings()
        pressure.warning = try trigger(.pressureWarning, .warning, values)
        pressure.critical = try trigger(.pressureCritical, .critical, values)
        pressure.warningKeep = try share(.pressureWarningKeep, values)
        pressure.criticalKeep = try share(.pressureCriticalKeep, values)
        guard
            let eviction = values.text(.pressureEvicts).flatMap(PressureEviction.init(rawValue:))
        else {
            throw values.bad(.pressureEvicts, "auto, always or never")
        }
        pressure.evicts = eviction
        pressure.coolDown = try coolDown(values)
        return pressure
    }

    private static func trigger(
        _ name: SettingName, _ level: PressureLevel, _ values: SettingValues
    ) throws -> PressureTrigger {
        let line = Array((values.text(name) ?? "").utf8)
        guard let trigger = PressureTrigger(line: line, level: level) else {
            let expected = """
                some or full, then the stall and its window in microseconds, the window from \
                500000 to 10000000
                """
            throw values.bad(name, expected)
        }
        return trigger
    }

    private static func share(_ name: SettingName, _ values: SettingValues) throws -> Double {
        guard let percentage = values.text(name).flatMap(Percentage.init) else {
            throw values.bad(name, "a share from 0% to 100%")
        }
        return percentage.share
    }

    private static func coolDown(_ values: SettingValues) throws -> Duration {
        guard let span = values.text(.pressureCoolDown).flatMap(TimeSpan.init),
            span.duration <= longestCoolDown
        else {
            throw values.bad(.pressureCoolDown, "a time like 500ms, 10s or 5min, at most 24h")
        }
        return span.duration
    }
}

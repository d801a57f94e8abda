import CacheWire

/// Values that several settings have in common. Each is `nil` if the setting has no value.
extension Settings {
    /// `yes` or `no`.
    static func answer(_ name: SettingName, _ values: SettingValues) throws -> Bool? {
        switch values.text(name) {
        case "yes": true
        case "no": false
        case nil: nil
        default: throw values.bad(name, "yes or no")
        }
    }

    static func size(
        _ name: SettingName, _ values: SettingValues, least: Int64 = 1
    ) throws -> Int64? {
        guard let text = values.text(name) else { return nil }
        guard let bytes = ByteSize(text), bytes.count >= least else {
            throw values.bad(name, "a size like 64MiB or 5G")
        }
        return bytes.count
    }

    /// HTTP counts in seconds (RFC 9111 §1.2.2).
    static func seconds(_ name: SettingName, _ values: SettingValues) throws -> Int64? {
        guard let text = values.text(name) else { return nil }
        guard let time = TimeSpan(text)?.duration.components, time.attoseconds == 0 else {
            throw values.bad(name, "whole seconds, like 30s or 1h")
        }
        return time.seconds
    }
}

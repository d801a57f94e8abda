import CacheCore
import Configuration

extension Settings {
    /// How long images are used without asking again, where their origins leave that open.
    static func caching(
        _ options: DaemonOptions, _ reader: ConfigReader, isShared: Bool
    ) throws -> CachingRules {
        var rules = CachingRules()
        rules.isShared = try answer(options.shared, .shared, reader) ?? isShared
        if let time = try seconds(options.defaultFreshness, .defaultFreshness, reader) {
            rules.unknownLifetime = time
        }
        if let time = try seconds(options.staleIfError, .staleIfError, reader) {
            rules.staleIfError = time
        }
        return rules
    }

    private static func seconds(
        _ option: String?, _ name: SettingName, _ reader: ConfigReader
    ) throws -> Int64? {
        guard let text = option ?? reader.string(name) else { return nil }
        guard let span = TimeSpan(text) else { throw bad(name, text, "a time like 30s or 1h") }
        return span.duration.components.seconds
    }

    /// `http://host:port` and no more: credentials are sent to nobody.
    static func proxy(_ options: DaemonOptions, _ reader: ConfigReader) throws -> String? {
        guard let text = options.proxy ?? reader.string(.proxy) else { return nil }
        let wanted = "a proxy like http://host:3128, without user and path"
        let schemes = ["http://", "https://"]
        guard let scheme = schemes.first(where: { text.hasPrefix($0) }) else {
            throw bad(.proxy, text, wanted)
        }
        let place = text.dropFirst(scheme.count)
        guard !place.isEmpty, !place.contains(where: { "/@?# ".contains($0) }) else {
            throw bad(.proxy, text, wanted)
        }
        return text
    }
}

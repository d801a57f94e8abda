import CacheCore
import Configuration

extension Settings {
    /// How long images are used without asking their servers again, if those do not say.
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

    static func seconds(
        _ option: String?, _ name: SettingName, _ reader: ConfigReader
    ) throws -> Int64? {
        guard let text = option ?? reader.string(name) else { return nil }
        // HTTP counts in seconds (RFC 9111 §1.2.2).
        guard let time = TimeSpan(text)?.duration.components, time.attoseconds == 0 else {
            throw bad(name, text, "whole seconds, like 30s or 1h")
        }
        return time.seconds
    }

    /// The proxy, as `http://host:port`. A user and password are refused, because the daemon sends credentials to no
    /// server.
    static func proxy(_ options: DaemonOptions, _ reader: ConfigReader) throws -> String? {
        guard let text = options.proxy ?? reader.string(.proxy) else { return nil }
        let expected = "a proxy like http://host:3128, without user and path"
        // The error must not show a password, which would be before the host.
        let shown = text.lastIndex(of: "@").map { "…\(text[$0...])" } ?? text
        let form = /https?:\/\/(?:\[[0-9A-Fa-f:.]+\]|[^:\/@?#\[\]\s]+)(?::([0-9]{1,5}))?/
        guard let match = text.wholeMatch(of: form),
            match.1.map({ 1...65535 ~= Int($0) ?? 0 }) ?? true
        else { throw bad(.proxy, shown, expected) }
        return text
    }
}

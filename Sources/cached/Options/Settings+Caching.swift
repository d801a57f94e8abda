import CacheCore
import CacheKey
import HTTPCaching

extension Settings {
    /// How long images are used without asking their servers again, if those do not say.
    static func caching(_ values: SettingValues, isShared: Bool) throws -> CachingRules {
        var rules = CachingRules()
        rules.isShared = try answer(.shared, values) ?? isShared
        if let time = try seconds(.defaultFreshness, values) { rules.unknownLifetime = time }
        if let time = try seconds(.staleIfError, values) { rules.staleIfError = time }
        return rules
    }

    /// The parameters of queries that do not count in the names of images.
    static func ignoredQueries(_ values: SettingValues) throws -> IgnoredQueries {
        guard let text = values.text(.ignoreQuery) else { return IgnoredQueries() }
        do throws(IgnoredQueries.Problem) {
            return try IgnoredQueries(text)
        } catch {
            throw values.bad(.ignoreQuery, "a list of rules like cdn.example.com:sig,exp: \(error)")
        }
    }

    /// The proxy, as `http://host:port`. A user and password are refused, because the daemon sends credentials to no
    /// server.
    static func proxy(_ values: SettingValues) throws -> String? {
        guard let text = values.text(.proxy) else { return nil }
        let form = /https?:\/\/(?:\[[0-9A-Fa-f:.]+\]|[^:\/@?#\[\]\s]+)(?::([0-9]{1,5}))?/
        guard let match = text.wholeMatch(of: form),
            match.1.map({ 1...65535 ~= Int($0) ?? 0 }) ?? true
        else {
            // The error must not show a password, which would be before the host.
            let shown = text.lastIndex(of: "@").map { "…\(text[$0...])" } ?? text
            throw values.bad(
                .proxy, "a proxy like http://host:3128, without user and path", shown: shown)
        }
        return text
    }
}

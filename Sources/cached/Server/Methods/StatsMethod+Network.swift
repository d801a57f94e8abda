import CacheCore
import CacheWire

extension StatsMethod {
    /// How the daemon appears to origins, and how it reaches them. Settings that are not set are absent.
    static func networkFigures(of cache: Cache) -> [String: JSONValue] {
        let settings = cache.transferSettings
        let trust = cache.trustStore
        var figures: [String: JSONValue] = [
            "userAgent": .string(settings.userAgent), "hasContact": .bool(settings.hasContact),
        ]
        if let location = cache.storeSettings?.location {
            figures["storeLocation"] = .string(location.description)
            figures["storeEndpoint"] = .string(location.endpoint)
        }
        figures["proxy"] = settings.proxy.map { .string($0.url) }
        figures["trustFile"] = trust.file.map { .string($0) }
        figures["trustDirectory"] = trust.directory.map { .string($0) }
        return figures
    }
}

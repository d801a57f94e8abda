import CacheCore
import CacheModel
import Logging

/// The settings about a store that several machines share.
extension Settings {
    /// `nil` without a store, even if its other settings are set.
    static func store(
        _ values: SettingValues, _ environment: [String: String]
    ) throws -> StoreSettings? {
        guard let text = values.text(.store) else { return nil }
        var settings = StoreSettings(
            location: try location(text, values, environment),
            credentials: try credentials(values, environment))
        settings.policy = try policy(values)
        settings.flush = try time(.storeFlush, values, .zero ... .seconds(600))
        settings.maximumRate = try size(.storeMaxRate, values)
        if settings.maximumRate == nil, let rate = try size(.maxRate, values) {
            settings.maximumRate = max(1, rate / 4)
        }
        return settings
    }

    private static func location(
        _ text: String, _ values: SettingValues, _ environment: [String: String]
    ) throws -> StoreLocation {
        func variable(_ names: String...) -> (name: String, value: String)? {
            names.lazy.compactMap { name in
                environment[name].flatMap { $0.isEmpty ? nil : (name, $0) }
            }.first
        }
        let region =
            values.text(.storeRegion)
            ?? variable("AWS_REGION", "AWS_DEFAULT_REGION")?.value ?? "us-east-1"
        guard region.wholeMatch(of: /[a-zA-Z0-9-]{1,64}/) != nil else {
            throw values.bad(.storeRegion, "a region like eu-central-1", shown: region)
        }
        let inherited = variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
        let endpoint = values.text(.storeEndpoint) ?? inherited?.value
        let style = try style(values)
        do throws(StoreLocation.Problem) {
            return try StoreLocation(text, endpoint: endpoint, region: region, style: style)
        } catch {
            guard error.isAboutEndpoint else { throw values.bad(.store, error.expected) }
            // The error must not show a password, which would be before the host.
            let shown = endpoint.map { text in
                text.lastIndex(of: "@").map { "…\(text[$0...])" } ?? text
            }
            if values.text(.storeEndpoint) == nil, let inherited {
                throw StartFailure.configuration(
                    "\(inherited.name) in the environment is \"\(shown ?? "")\", not "
                        + error.expected)
            }
            throw values.bad(.storeEndpoint, error.expected, shown: shown)
        }
    }

    private static func style(_ values: SettingValues) throws -> StoreLocation.Style? {
        guard let text = values.text(.storeStyle) else { return nil }
        guard let style = StoreLocation.Style(rawValue: text) else {
            throw values.bad(.storeStyle, "path or virtual")
        }
        return style
    }

    private static func credentials(
        _ values: SettingValues, _ environment: [String: String]
    ) throws -> StoreCredentialSource {
        if let word = values.text(.storeCredentials) {
            // A key that a person writes here by mistake must not get into the log.
            guard word == "none" else {
                throw values.bad(
                    .storeCredentials, "none, for a public bucket; a key belongs into a file",
                    shown: "…"
                )
            }
            return .none
        }
        do throws(StoreCredentialSource.Missing) {
            return try StoreCredentialSource(environment: environment)
        } catch {
            throw StartFailure.configuration(
                "\(values.place(of: .store)) needs credentials, and there are none in "
                    + "\(error.places.joined(separator: ", ")); for a public bucket set "
                    + "CACHED_STORE_CREDENTIALS=none")
        }
    }

    private static func policy(_ values: SettingValues) throws -> StorePolicy {
        var policy = StorePolicy()
        switch values.text(.storeMode) {
        case "read": policy.writes = false
        case "write": policy.reads = false
        case "read-write": break
        default: throw values.bad(.storeMode, "read-write, read or write")
        }
        policy.timeout = try time(
            .storeTimeout, values, .milliseconds(10) ... .seconds(60))
        policy.spread = try time(.storeSpread, values, .zero ... .seconds(3600))
        policy.renew = try seconds(.storeRenew, values) ?? policy.renew
        if let size = try size(.storeMaxImageBytes, values) { policy.maximumImageSize = size }
        return policy
    }

    private static func time(
        _ name: SettingName, _ values: SettingValues, _ range: ClosedRange<Duration>
    ) throws -> Duration {
        guard let time = values.text(name).flatMap({ TimeSpan($0) })?.duration,
            range.contains(time)
        else {
            throw values.bad(
                name,
                "a time from \(TimeSpan(range.lowerBound)) to \(TimeSpan(range.upperBound))")
        }
        return time
    }

    // MARK: Warnings

    /// Warns of a store that others can see into.
    func warnOfStore(_ logger: Logger) {
        guard let store = cache.store else { return }
        if store.location.isOpenToListeners {
            logger.warning(
                "the store is reached without TLS; whoever listens on the way sees the images",
                metadata: ["endpoint": "\(store.location.endpoint)"])
        }
        if let file = store.credentials.path, store.credentials.isOpenToOthers {
            logger.warning(
                "others may read the credentials of the store; chmod 600 the file",
                metadata: ["file": "\(file)"])
        }
    }
}

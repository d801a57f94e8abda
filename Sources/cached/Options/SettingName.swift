/// The settings, by their names in the environment and in the configuration file.
enum SettingName: String, CaseIterable {
    /// A service manager sets this one too. systemd.exec(5), `CacheDirectory=`.
    case directory = "CACHE_DIRECTORY"
    case socket = "CACHED_SOCKET"
    case socketMode = "CACHED_SOCKET_MODE"
    case socketGroup = "CACHED_SOCKET_GROUP"
    case managers = "CACHED_MANAGERS"
    case idleExit = "CACHED_IDLE_EXIT"
    case allowNetwork = "CACHED_ALLOW_NETWORK"
    case accept = "CACHED_ACCEPT"
    case shared = "CACHED_SHARED"
    case attempts = "CACHED_ATTEMPTS"
    case rememberFailures = "CACHED_REMEMBER_FAILURES"
    case maxBytes = "CACHED_MAX_BYTES"
    case minFree = "CACHED_MIN_FREE"
    case maxEntries = "CACHED_MAX_ENTRIES"
    case maxImageBytes = "CACHED_MAX_IMAGE_BYTES"
    case maxPixels = "CACHED_MAX_PIXELS"
    case maxTransfers = "CACHED_MAX_TRANSFERS"
    case maxTransfersPerHost = "CACHED_MAX_TRANSFERS_PER_HOST"
    case maxRate = "CACHED_MAX_RATE"
    case proxy = "CACHED_PROXY"
    case defaultFreshness = "CACHED_DEFAULT_FRESHNESS"
    case ignoreQuery = "CACHED_IGNORE_QUERY"
    case staleIfError = "CACHED_STALE_IF_ERROR"
    case caFile = "CACHED_CA_FILE"
    case caOnly = "CACHED_CA_ONLY"
    case contact = "CACHED_CONTACT"
    case userAgent = "CACHED_USER_AGENT"
    case firstByteTimeout = "CACHED_FIRST_BYTE_TIMEOUT"
    case store = "CACHED_STORE"
    case storeEndpoint = "CACHED_STORE_ENDPOINT"
    case storeRegion = "CACHED_STORE_REGION"
    case storeStyle = "CACHED_STORE_STYLE"
    case storeCredentials = "CACHED_STORE_CREDENTIALS"
    case storeMode = "CACHED_STORE_MODE"
    case storeTimeout = "CACHED_STORE_TIMEOUT"
    case storeFlush = "CACHED_STORE_FLUSH"
    case storeRenew = "CACHED_STORE_RENEW"
    case storeSpread = "CACHED_STORE_SPREAD"
    case storeMaxImageBytes = "CACHED_STORE_MAX_IMAGE_BYTES"
    case storeMaxRate = "CACHED_STORE_MAX_RATE"
    case pressureWarning = "CACHED_PRESSURE_WARNING"
    case pressureCritical = "CACHED_PRESSURE_CRITICAL"
    case pressureWarningKeep = "CACHED_PRESSURE_WARNING_KEEP"
    case pressureCriticalKeep = "CACHED_PRESSURE_CRITICAL_KEEP"
    case pressureEvicts = "CACHED_PRESSURE_EVICTS"
    case pressureCoolDown = "CACHED_PRESSURE_COOL_DOWN"
    case restrict = "CACHED_RESTRICT"
    case logLevel = "CACHED_LOG_LEVEL"
    case logFormat = "CACHED_LOG_FORMAT"
    case logQueries = "CACHED_LOG_QUERIES"

    /// The name of the option, without its dashes.
    var option: String {
        rawValue.split(separator: "_").dropFirst().joined(separator: "-").lowercased()
    }

    /// Whether a name has the prefix of our settings and is not one of them.
    static func isUnknown(_ name: String) -> Bool {
        name.hasPrefix("CACHED_") && SettingName(rawValue: name) == nil
    }

    /// The setting whose name differs from `name` in the fewest letters.
    static func nearest(to name: String) -> SettingName {
        allCases.min { distance($0.rawValue, name) < distance($1.rawValue, name) } ?? .socket
    }

    /// The number of single-letter edits that turn one text into the other (Levenshtein distance).
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right.utf8)
        var row = Array(0...right.count)
        for (index, byte) in left.utf8.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let substituted = diagonal + (right[column] == byte ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(substituted, row[column] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}

extension SettingName {
    /// The default as a text that the configuration file could contain. `nil` if the setting is off by default, or if
    /// its default depends on the machine.
    var defaultText: String? {
        switch self {
        case .socketMode: "600"
        case .attempts: "4"
        case .rememberFailures: "yes"
        case .maxImageBytes: "64MiB"
        case .maxPixels: "1000000000"
        case .maxTransfers: "64"
        case .maxTransfersPerHost: "6"
        case .defaultFreshness: "1h"
        case .staleIfError: "24h"
        case .caOnly: "no"
        case .firstByteTimeout: "120s"
        case .storeMode: "read-write"
        case .storeTimeout: "1s"
        case .storeFlush: "2s"
        case .storeRenew: "1h"
        case .storeSpread: "5s"
        case .pressureWarning: "some 200000 2000000"
        case .pressureCritical: "full 200000 2000000"
        case .pressureWarningKeep: "75%"
        case .pressureCriticalKeep: "50%"
        case .pressureEvicts: "auto"
        case .pressureCoolDown: "10s"
        case .restrict: Restriction.Extent.partly.rawValue
        case .logLevel: "info"
        case .logFormat: "auto"
        case .logQueries: "no"
        case .directory, .socket, .socketGroup, .managers, .idleExit, .allowNetwork, .accept,
            .shared, .maxBytes, .minFree, .maxEntries,
            .maxRate, .proxy, .ignoreQuery, .caFile, .contact, .userAgent, .store, .storeEndpoint,
            .storeRegion, .storeStyle, .storeCredentials, .storeMaxImageBytes, .storeMaxRate:
            nil
        }
    }

    /// Whether a new value counts only after a restart. A reload applies all other settings.
    var needsRestart: Bool {
        switch self {
        case .directory, .socket, .socketMode, .socketGroup, .idleExit, .shared,
            .pressureWarning, .pressureCritical, .restrict, .store, .storeEndpoint, .storeRegion,
            .storeStyle, .storeCredentials, .storeMode, .storeTimeout, .storeFlush, .storeRenew,
            .storeSpread, .storeMaxImageBytes, .storeMaxRate:
            true
        case .managers, .allowNetwork, .accept, .attempts, .rememberFailures, .maxBytes, .minFree,
            .maxEntries, .maxImageBytes, .maxPixels, .maxTransfers, .maxTransfersPerHost, .maxRate,
            .proxy, .defaultFreshness, .ignoreQuery, .staleIfError, .caFile, .caOnly, .contact,
            .userAgent,
            .firstByteTimeout, .pressureWarningKeep, .pressureCriticalKeep, .pressureEvicts,
            .pressureCoolDown, .logLevel, .logFormat, .logQueries:
            false
        }
    }
}

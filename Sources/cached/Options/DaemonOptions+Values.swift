extension DaemonOptions {
    /// The options that were given, by the settings they set.
    var values: [SettingName: String] {
        let all: [SettingName: String?] = [
            .directory: directory, .socket: socket, .socketMode: socketMode,
            .socketGroup: socketGroup,
            .managers: managers.isEmpty ? nil : managers.joined(separator: ","),
            .idleExit: idleExit,
            .allowNetwork: allowNetwork.isEmpty ? nil : allowNetwork.joined(separator: ","),
            .accept: accept, .shared: shared, .attempts: attempts,
            .rememberFailures: rememberFailures, .maxBytes: maxBytes, .minFree: minFree,
            .maxEntries: maxEntries, .maxImageBytes: maxImageBytes,
            .maxPixels: transfers.maxPixels,
            .maxTransfers: transfers.maxTransfers,
            .maxTransfersPerHost: transfers.maxTransfersPerHost, .maxRate: transfers.maxRate,
            .proxy: proxy, .defaultFreshness: defaultFreshness, .staleIfError: staleIfError,
            .ignoreQuery: ignoreQuery.isEmpty ? nil : ignoreQuery.joined(separator: " "),
            .caFile: caFile, .caOnly: caOnly, .contact: transfers.contact,
            .userAgent: transfers.userAgent, .firstByteTimeout: transfers.firstByteTimeout,
            .store: store.store, .storeEndpoint: store.storeEndpoint,
            .storeRegion: store.storeRegion, .storeStyle: store.storeStyle,
            .storeCredentials: store.storeCredentials, .storeMode: store.storeMode,
            .storeTimeout: store.storeTimeout, .storeFlush: store.storeFlush,
            .storeRenew: store.storeRenew, .storeSpread: store.storeSpread,
            .storeMaxImageBytes: store.storeMaxImageBytes, .storeMaxRate: store.storeMaxRate,
            .pressureWarning: pressure.pressureWarning,
            .pressureCritical: pressure.pressureCritical,
            .pressureWarningKeep: pressure.pressureWarningKeep,
            .pressureCriticalKeep: pressure.pressureCriticalKeep,
            .pressureEvicts: pressure.pressureEvicts, .pressureCoolDown: pressure.pressureCoolDown,
            .restrict: restrict, .logLevel: log.logLevel, .logFormat: log.logFormat,
            .logQueries: log.logQueries,
        ]
        return all.compactMapValues(\.self)
    }
}

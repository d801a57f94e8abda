import CacheCore
import CacheValues
import CacheWire
import Glibc

/// The settings that the daemon runs with.
struct Settings: Sendable {
    /// The texts that the settings come from.
    let values: SettingValues
    /// The paths of the configuration files, in the order in which they count.
    let files: [String]
    /// The path of the directory of header fields, which need not exist; `nil` without a home.
    let headers: String?
    /// Variables of the environment that set a proxy for other programs, although none is set for this one.
    let unusedProxies: [String]
    var cache: CacheSettings
    let socket: String
    let socketMode: mode_t
    /// The group of the socket's file; `nil` for that of the process.
    let socketGroup: gid_t?
    let managers: Managers
    /// The time without clients and work after which the daemon ends; `nil` if it stays.
    let idleExit: Duration?
    let pressure: PressureSettings
    let log: LogSettings
    /// The rights that the daemon gives up after its start.
    let restriction: Restriction.Extent
    /// The settings whose new values need a restart, so that those of the running daemon count.
    private(set) var pending: [SettingName] = []

    /// Reads the configuration files and interprets all values.
    ///
    /// - Parameter running: the settings of the running daemon, whose values count for what needs a restart.
    /// - Throws: `StartFailure` if anything is wrong.
    static func resolve(
        _ options: DaemonOptions, _ environment: [String: String], running: Settings? = nil
    ) throws -> Settings {
        let place = ConfigurationPlace(option: options.config, environment: environment)
        let files = try place.read()
        let values = try SettingValues(
            options: options.values, environment: environment, files: files)
        // A wrong value is an error even if it would count only after a restart.
        let new = try Settings(
            values, environment, files: files.map(\.path), headers: place.headers(environment))
        guard let running else { return new }
        let fixed = SettingName.allCases.filter(\.needsRestart)
        var settings = try Settings(
            values.keeping(fixed, of: running.values), environment, files: new.files,
            headers: new.headers)
        settings.pending = values.differences(from: settings.values)
        return settings
    }

    private init(
        _ values: SettingValues, _ environment: [String: String], files: [String], headers: String?
    ) throws {
        var places = environment
        places[SettingName.socket.rawValue] = values.text(.socket)
        places[SettingName.directory.rawValue] = values.text(.directory)
        let socket = SocketLookup.daemonPath(flag: nil, environment: places)
        var cache = CacheSettings(directory: try Self.directory(values, places))
        cache.limits = try Self.limits(values)
        cache.transfers = try Self.transfers(values)
        cache.retry = try Self.retry(values)
        cache.ignoredQueries = try Self.ignoredQueries(values)
        (socketMode, socketGroup) = try Self.socketAccess(values)
        cache.directoryMode = Self.directoryMode(socketMode)
        cache.transfers.caching = try Self.caching(
            values,
            isShared: SocketLookup.isSystem(socket) || Self.isOpenToOthers(socketMode)
                || values.text(.store) != nil)
        cache.store = try Self.store(values, environment)
        (self.values, self.files, self.headers) = (values, files, headers)
        (self.cache, self.socket) = (cache, socket)
        unusedProxies = cache.transfers.proxy == nil ? Self.proxies(environment) : []
        managers = try Self.managers(values)
        idleExit = try Self.idleExit(values)
        pressure = try Self.pressure(values)
        log = try Self.log(values)
        let extent = values.text(.restrict) ?? Restriction.Extent.partly.rawValue
        guard let restriction = Restriction.Extent(rawValue: extent) else {
            throw values.bad(.restrict, "yes, partly or no")
        }
        self.restriction = restriction
    }

    private static func directory(
        _ values: SettingValues, _ places: [String: String]
    ) throws -> String {
        guard let directory = DirectoryLookup.path(flag: nil, environment: places) else {
            throw StartFailure.configuration(
                "no cache directory is known; set one with --directory")
        }
        // A service manager separates several directories by colons. systemd.exec(5), `CacheDirectory=`
        guard values[.directory]?.source == .option || !directory.contains(":/") else {
            throw StartFailure.configuration(
                "CACHE_DIRECTORY names several directories, \(directory); choose one with --directory"
            )
        }
        guard directory.hasPrefix("/") else {
            throw values.bad(.directory, "an absolute path", shown: directory)
        }
        return directory
    }

    private static func limits(_ values: SettingValues) throws -> Limits {
        var limits = Limits()
        limits.maximumBytes = try size(.maxBytes, values)
        limits.minimumFree = try size(.minFree, values, least: 0)
        if let text = values.text(.maxEntries) {
            guard let count = Int(text), count > 0 else {
                throw values.bad(.maxEntries, "a number above 0")
            }
            limits.maximumEntries = count
        }
        if let bytes = try size(.maxImageBytes, values) { limits.maximumImageSize = bytes }
        return limits
    }

    /// The variables by which other programs find a proxy. curl(1), "Environment".
    private static func proxies(_ environment: [String: String]) -> [String] {
        ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"]
            .filter { environment[$0]?.isEmpty == false }
    }
}

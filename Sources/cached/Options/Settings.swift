import CacheCore
import CacheWire
import Configuration
import Glibc
import Logging
import SystemPackage

/// The settings that the daemon runs with. An option overrides the environment, the environment overrides the
/// configuration file, and the file overrides the default.
struct Settings: Sendable {
    /// The path of the configuration file, if one is used.
    var file: String?
    /// The path of the directory of header fields, which need not exist; `nil` without a home.
    var headers: String?
    /// Variables of the environment that set a proxy for other programs, although none is set for this one.
    var unusedProxies: [String]
    var cache: CacheSettings
    var socket: String
    var socketMode: mode_t
    /// The group of the socket's file; `nil` for that of the process.
    var socketGroup: gid_t?
    var managers: Managers
    /// The time without clients and work after which the daemon ends; `nil` if it stays.
    var idleExit: Duration?
    var pressure: PressureSettings
    var logLevel: Logger.Level

    static func resolve(
        _ options: DaemonOptions, _ environment: [String: String]
    ) throws -> Settings {
        let file = configurationFile(options, environment)
        let reader = try reader(file, environment)
        var places = environment
        places[SettingName.socket.rawValue] = reader.string(.socket)
        places[SettingName.directory.rawValue] = reader.string(.directory)
        guard let directory = DirectoryLookup.path(flag: options.directory, environment: places)
        else {
            throw StartFailure.configuration(
                "no cache directory is known; set one with --directory")
        }
        // A service manager separates several directories by colons. systemd.exec(5), `CacheDirectory=`
        guard options.directory != nil || !directory.contains(":/") else {
            throw StartFailure.configuration(
                "CACHE_DIRECTORY names several directories, \(directory); choose one with --directory"
            )
        }
        guard directory.hasPrefix("/") else {
            throw StartFailure.configuration(
                "the cache directory must be an absolute path, not \(directory) (--directory)")
        }
        var cache = CacheSettings(directory: directory)
        cache.limits = try limits(options, reader)
        cache.transfers = try transfers(options, reader)
        cache.retry = try retry(options, reader)
        let socket = SocketLookup.daemonPath(flag: options.socket, environment: places)
        let (socketMode, socketGroup) = try socketAccess(options, reader)
        cache.directoryMode = directoryMode(socketMode)
        cache.transfers.caching = try caching(
            options, reader,
            isShared: SocketLookup.isSystem(socket) || isOpenToOthers(socketMode))
        return Settings(
            file: file, headers: headerDirectory(file, environment),
            unusedProxies: cache.transfers.proxy == nil ? proxies(environment) : [], cache: cache,
            socket: socket,
            socketMode: socketMode, socketGroup: socketGroup,
            managers: try managers(options, reader), idleExit: try idleExit(options, reader),
            pressure: try pressure(options.pressure, reader),
            logLevel: try level(options.logLevel ?? reader.string(.logLevel) ?? "info"))
    }

    /// `yes` or `no`; `nil` if it is not set.
    static func answer(
        _ option: String?, _ name: SettingName, _ reader: ConfigReader
    ) throws -> Bool? {
        guard let text = option ?? reader.string(name) else { return nil }
        switch text {
        case "yes": return true
        case "no": return false
        default: throw bad(name, text, "yes or no")
        }
    }

    private static func limits(
        _ options: DaemonOptions, _ reader: ConfigReader
    ) throws -> Limits {
        var limits = Limits()
        limits.maximumBytes = try size(options.maxBytes, .maxBytes, reader)
        limits.minimumFree = try size(options.minFree, .minFree, reader, least: 0)
        if let text = options.maxEntries ?? reader.string(.maxEntries) {
            guard let count = Int(text), count > 0 else {
                throw bad(.maxEntries, text, "a number above 0")
            }
            limits.maximumEntries = count
        }
        if let bytes = try size(options.maxImageBytes, .maxImageBytes, reader) {
            limits.maximumImageSize = bytes
        }
        return limits
    }

    static func size(
        _ option: String?, _ name: SettingName, _ reader: ConfigReader, least: Int64 = 1
    ) throws -> Int64? {
        guard let text = option ?? reader.string(name) else { return nil }
        guard let bytes = ByteSize(text), bytes.count >= least else {
            throw bad(name, text, "a size like 64MiB")
        }
        return bytes.count
    }

    private static func level(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else {
            throw bad(.logLevel, text, "one of trace, debug, info, notice, warning, error")
        }
        return level
    }

    /// A setting with a wrong value.
    static func bad(_ name: SettingName, _ value: String, _ expected: String) -> StartFailure {
        let option = name.rawValue.dropFirst("CACHED_".count).lowercased()
            .split(separator: "_").joined(separator: "-")
        return .configuration("--\(option) (\(name.rawValue)) is \"\(value)\", not \(expected)")
    }

    static func words(_ text: String) -> [String] {
        text.split(separator: ",").map { String($0).trimmed }
    }
}

// MARK: Sources of settings

extension Settings {
    /// Reads the environment first, then the file. An empty value counts as not set. A name with the prefix of our
    /// settings that is not one of them is an error.
    private static func reader(
        _ file: String?, _ environment: [String: String]
    ) throws -> ConfigReader {
        for name in environment.keys.sorted() { try check(name, "the environment") }
        var providers: [any ConfigProvider] = [
            EnvironmentVariablesProvider(
                environmentVariables: environment.filter { !$0.value.isEmpty })
        ]
        if let file { providers.append(try provider(ConfigurationFile(file))) }
        return ConfigReader(providers: providers)
    }

    private static func provider(_ file: ConfigurationFile) throws -> EnvironmentVariablesProvider {
        for (name, line) in file.names { try check(name, "\(file.path):\(line)") }
        return EnvironmentVariablesProvider(environmentVariables: file.values)
    }

    private static func check(_ name: String, _ place: String) throws {
        guard SettingName.isUnknown(name) else { return }
        let nearest = SettingName.nearest(to: name).rawValue
        throw StartFailure.configuration(
            "\(place) sets \(name), which is not a setting; did you mean \(nearest)?")
    }

    /// The file to read: the one that an option names, or the first that exists in the usual places. A file that
    /// exists and cannot be read is an error.
    private static func configurationFile(
        _ options: DaemonOptions, _ environment: [String: String]
    ) -> String? {
        options.config ?? directories(environment).map { "\($0)/cached.conf" }.first(where: exists)
    }

    /// `headers.d` beside the configuration file, or else in the first usual place that has one.
    private static func headerDirectory(
        _ file: String?, _ environment: [String: String]
    ) -> String? {
        if let file { return "\(FilePath(file).removingLastComponent())/headers.d" }
        let places = directories(environment).map { "\($0)/headers.d" }
        return places.first(where: exists) ?? places.first
    }

    /// The usual places of the configuration, the user's own first.
    private static func directories(_ environment: [String: String]) -> [String] {
        let home =
            environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? environment["HOME"].map { "\($0)/.config" }
        return [home.map { "\($0)/cached" }, "/etc/cached"].compactMap(\.self)
    }

    /// A broken link counts as existing, and so does a path that may not be searched: its file may exist.
    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 || ![ENOENT, ENOTDIR].contains(errno)
    }

    /// The variables by which other programs find a proxy. curl(1), "Environment".
    private static func proxies(_ environment: [String: String]) -> [String] {
        ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"]
            .filter { environment[$0]?.isEmpty == false }
    }
}

extension ConfigReader {
    /// The value of a setting; `nil` if it is not set or empty.
    func string(_ name: SettingName) -> String? {
        string(forKey: ConfigKey(name.key)).flatMap { $0.isEmpty ? nil : $0 }
    }

    func list(_ name: SettingName) -> [String] {
        string(name).map(Settings.words) ?? []
    }
}

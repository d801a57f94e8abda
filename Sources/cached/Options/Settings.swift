import CacheCore
import CacheValues
import CacheWire
import Glibc
import HTTPCaching

/// The settings that the daemon runs with. The rows of ``Setting`` fill it.
struct Settings: Sendable {
    /// The texts that the settings come from.
    let values: SettingValues
    /// The paths of the configuration files, in the order in which they count.
    let files: [String]
    /// The path of the directory of header fields, which need not exist; `nil` without a home.
    let headers: String?
    /// Variables of the environment that set a proxy for other programs, although none is set for this one.
    private(set) var unusedProxies: [String] = []
    var cache = CacheSettings(directory: "")
    var socket = ""
    var socketMode: mode_t = 0o600
    /// The group of the socket's file; `nil` for that of the process.
    var socketGroup: gid_t?
    var managers: Managers
    /// The time without clients and work after which the daemon ends; `nil` if it stays.
    var idleExit: Duration?
    var pressureEvicts = PressureEviction.auto
    var log = LogSettings()
    /// The rights that the daemon gives up after its start.
    var restriction = RestrictionExtent.auto
    /// The names of the settings whose new values need a restart, so that those of the running daemon count.
    private(set) var pending: [String] = []

    // Values that count together with others.
    var store = StoreChoice()
    var proxyLogin: ProxyLogin?
    var noProxy: [String] = []
    var isShared: Bool?
    var contact: String?
    var userAgent: String?

    /// Whether a path begins in the working directory, which the daemon must not leave then.
    var needsWorkingDirectory: Bool {
        let named = Setting.all.filter { $0.placeholder == "FILE" }
            .compactMap { values[$0.name]?.text }
        return ([socket] + files + named).contains { !$0.hasPrefix("/") && !$0.hasPrefix("@") }
    }

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
        var settings = try Settings(
            values.keeping(running.values), environment, files: new.files, headers: new.headers)
        settings.pending = values.differences(from: settings.values)
        return settings
    }

    private init(
        _ values: SettingValues, _ environment: [String: String], files: [String], headers: String?
    ) throws {
        (self.values, self.files, self.headers) = (values, files, headers)
        managers = try Managers()
        for setting in Setting.all {
            guard let text = values[setting.name]?.text else { continue }
            do throws(WrongValue) {
                try setting.apply(&self, text)
            } catch {
                throw values.bad(setting.name, error)
            }
        }
        try completePlaces(environment)
        try completeTransfers(environment)
        cache.store = try store.settings(
            values, environment, downloadRate: cache.transfers.maximumRate)
    }

    private mutating func completePlaces(_ environment: [String: String]) throws {
        if socket.isEmpty { socket = SocketLookup.daemonPath(flag: nil, environment: environment) }
        if cache.directory.isEmpty {
            guard let usual = DirectoryLookup.daemonPath(environment: environment) else {
                throw StartFailure.configuration(
                    "no cache directory is known; set one with --directory (CACHED_DIRECTORY)")
            }
            // A service manager separates several directories by colons. systemd.exec(5), `CacheDirectory=`
            guard !usual.contains(":/") else {
                throw StartFailure.configuration(
                    "CACHE_DIRECTORY in the environment names several directories, \(usual); choose one with "
                        + "--directory (CACHED_DIRECTORY)")
            }
            cache.directory = usual
        }
        guard cache.directory.hasPrefix("/") else {
            throw values.bad(
                "CACHED_DIRECTORY", WrongValue("an absolute path", shown: cache.directory))
        }
        cache.deriver = DeriverProgram.path
        cache.directoryMode = Self.directoryMode(socketMode)
    }

    private mutating func completeTransfers(_ environment: [String: String]) throws {
        // A socket that takes permission to write lets in other users than its owner.
        cache.transfers.caching.isShared =
            isShared
            ?? (SocketLookup.isSystem(socket) || socketMode & 0o022 != 0 || store.bucket != nil)
        // Who asks: RFC 9110 §10.1.5.
        let contactPart = contact.map { " (+\($0))" } ?? ""
        cache.transfers.userAgent = userAgent ?? "cached/\(Version.current)\(contactPart)"
        cache.transfers.hasContact = userAgent != nil || contact != nil
        if cache.transfers.trustsOnlyCertificateFile, cache.transfers.certificateFile == nil {
            throw StartFailure.configuration(
                "\(values.place(of: "CACHED_CA_ONLY")) is set, but no certificates are; name a file with "
                    + "--ca-file (CACHED_CA_FILE)")
        }
        guard cache.transfers.proxy != nil || proxyLogin == nil && noProxy.isEmpty else {
            throw StartFailure.configuration(
                "a login or exceptions of a proxy are set, but no proxy is; name it with --proxy (CACHED_PROXY)"
            )
        }
        cache.transfers.proxy?.login = proxyLogin
        cache.transfers.proxy?.exceptions = noProxy
        // The variables by which other programs find a proxy. curl(1), "Environment".
        let proxies = ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"]
            .filter { environment[$0]?.isEmpty == false }
        unusedProxies = cache.transfers.proxy == nil ? proxies : []
    }

    /// The permission bits of a cache directory that the daemon makes: open to the users who may connect to the
    /// socket, which takes permission to write.
    static func directoryMode(_ socketMode: mode_t) -> mode_t {
        0o700 | (socketMode & 0o020 != 0 ? 0o050 : 0) | (socketMode & 0o002 != 0 ? 0o005 : 0)
    }
}

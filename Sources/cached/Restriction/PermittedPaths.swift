import CLinux
import CacheCore
import CacheWire
import Glibc

/// The paths that the daemon needs after its start, and its access to them.
///
/// A file that other programs replace, as they do with `/etc/resolv.conf`, is a new file to the kernel, so the rule is
/// for its folder.
struct PermittedPaths {
    struct Rule: Hashable {
        let path: String
        let access: clinux_access
    }

    private(set) var rules: [Rule] = []

    /// Files of the system: the resolver, certificates, users and groups, libraries that the C library loads later,
    /// devices, and what the kernel says about this process and the machine.
    private static let system = ["/etc", "/usr", "/lib", "/lib64", "/run", "/dev", "/proc", "/sys"]
    /// The folders of sockets by which the C library finds hosts and users, and logs. nsswitch.conf(5), syslog(3)
    private static let services = [
        "/run/systemd/resolve", "/run/systemd/userdb", "/run/systemd/journal", "/run/nscd",
        "/run/avahi-daemon", "/var/lib/sss/pipes",
    ]

    init(
        _ settings: Settings, _ environment: [String: String], trust: TrustStore,
        pressure: PressureChoice
    ) {
        add(Self.system, clinux_read)
        add([settings.cache.directory], clinux_change)
        add([Self.folder(of: settings.socket)], clinux_remove)
        add(["/dev/null"], clinux_write)
        add(Self.services + [environment["NOTIFY_SOCKET"]].compactMap(\.self), clinux_connect)
        // The files of the configuration and of certificates are read again with SIGHUP.
        add(ConfigurationPlace.directories(environment), clinux_read)
        add(settings.files.map(Self.folder) + [settings.headers].compactMap(\.self), clinux_read)
        if let headers = settings.headers { add([Self.folder(of: headers)], clinux_read) }
        add([trust.file.map(Self.folder), trust.directory].compactMap(\.self), clinux_read)
        if let login = settings.values["CACHED_PROXY_LOGIN"]?.text {
            add([Self.folder(of: login)], clinux_read)
        }
        for credentials in settings.cache.store?.credentials.files ?? [] {
            add(Self.folders(of: credentials), clinux_read)
        }
        if let deriver = settings.cache.deriver {
            add([Self.folder(of: deriver)] + DeriverProgram.loaders, clinux_run)
        }
        add(pressure.sources.compactMap(\.path), clinux_write)
    }

    private mutating func add(_ paths: [String], _ access: clinux_access) {
        rules += paths.map { Rule(path: $0, access: access) }
    }

    /// The folder of a file that other programs replace, and that of the file to which its name leads. realpath(3)
    private static func folders(of path: String) -> [String] {
        guard let target = realpath(path, nil) else { return [folder(of: path)] }
        defer { free(target) }
        return [folder(of: path), folder(of: String(cString: target))]
    }

    /// The folder that holds a path; `.` for a name alone.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
